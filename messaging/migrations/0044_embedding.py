"""Who may choose a community for an embed, and the decision that ends one. An older release inserts the default."""

from django.db import migrations, models

ACTS = {
    "approved": "Approved",
    "hidden": "Hidden",
    "restored": "Restored",
    "dismissed": "reports dismissed",
    "banned": "Banned",
    "unbanned": "ban lifted",
    "added": "moderator added",
    "removed": "moderator removed",
    "changed": "rules changed",
    "created": "community created",
    "undone": "import removed",
    "ended": "widget ended",
}
# The constraint of before, which a reversal restores, refuses these decisions.
FORGET = "DELETE FROM messaging_decision WHERE act = 'ended'"


class Migration(migrations.Migration):
    dependencies = [("messaging", "0042_decided_at")]

    operations = [
        migrations.AddField(
            "community",
            "embedding",
            models.CharField(
                choices=[("moderators", "Moderators"), ("open", "Open")],
                db_default="open",
                default="open",
                max_length=10,
            ),
        ),
        migrations.AddConstraint(
            "community",
            models.CheckConstraint(
                condition=models.Q(("embedding__in", ["moderators", "open"])), name="community_embedding_known"
            ),
        ),
        migrations.AddIndex(
            "community",
            models.Index(
                models.F("created_at").desc(),
                models.F("id").desc(),
                condition=models.Q(("embedding", "open")),
                name="open_communities",
            ),
        ),
        migrations.RemoveConstraint("decision", "decision_act_known"),
        migrations.AlterField("decision", "act", models.CharField(choices=list(ACTS.items()), max_length=9)),
        migrations.AddConstraint(
            "decision",
            models.CheckConstraint(condition=models.Q(("act__in", list(ACTS))), name="decision_act_known"),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, FORGET),
    ]
