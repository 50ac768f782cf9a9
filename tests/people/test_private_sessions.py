"""Who may see a session stands in every commit and in every question of it, whatever the deployment writes."""

from tests.in_process.scripted import call, completes, plans, says, step

SCRIPT = (
    plans("delete"),
    says("I delete it.", call("delete_file", path="a.txt")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
)
