"""The page that shows the document: Swagger UI, from the wheel of Powertools that `requirements/` pins by its hash."""

from importlib.resources import files

from functions.fallback.document import PAGE, PARTS

KEPT = "event_handler/openapi/swagger_ui"
"""Where the wheel has it. What a function's zip has of the wheel is without it."""
HTML = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Acta API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
START = """\
SwaggerUIBundle({
  url: "openapi.json",
  dom_id: "#swagger-ui",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
});
"""


def page() -> dict[str, bytes]:
    """By name, what `functions/fallback/document.py` answers."""
    wheel = files("aws_lambda_powertools").joinpath(KEPT)
    made = {
        PAGE: HTML.encode(),
        "start.js": START.encode(),
        "swagger-ui.css": wheel.joinpath("swagger-ui.min.css").read_bytes(),
        "swagger-ui-bundle.js": wheel.joinpath("swagger-ui-bundle.min.js").read_bytes(),
    }
    assert made.keys() == {PAGE, *PARTS}
    return made
