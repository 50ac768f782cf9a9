"""`python -m acta.infra.document FOLDER`: writes the document and its page there, compressed.

The page is Swagger UI, from the wheel of Powertools that `requirements/` pins by its hash. The bytes never vary.
"""

import gzip
import json
import sys
from importlib.resources import files
from pathlib import Path

from acta.engine.api.fallback import DOCUMENT, PAGE, PARTS
from acta.infra.document.openapi import document

KEPT = "event_handler/openapi/swagger_ui"
"""The page's folder in the wheel. The functions' zips contain the wheel without this folder."""


def made() -> dict[str, bytes]:
    """File name -> the content that `acta/engine/api/fallback.py` answers with."""
    text = json.dumps(document(), ensure_ascii=False, separators=(",", ":"))
    wheel, here = files("aws_lambda_powertools").joinpath(KEPT), Path(__file__).parent
    found = {
        DOCUMENT: text.encode(),
        PAGE: here.joinpath("page.html").read_bytes(),
        "start.js": here.joinpath("start.js").read_bytes(),
        "swagger-ui.css": wheel.joinpath("swagger-ui.min.css").read_bytes(),
        "swagger-ui-bundle.js": wheel.joinpath("swagger-ui-bundle.min.js").read_bytes(),
    }
    assert found.keys() == {DOCUMENT, PAGE, *PARTS}
    return found


if __name__ == "__main__":
    for name, content in made().items():
        (Path(sys.argv[1]) / f"{name}.gz").write_bytes(gzip.compress(content, mtime=0))
