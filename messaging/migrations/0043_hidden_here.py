"""Posts that a community hides on its own pages alone, the function that finds the replies, and new decisions."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import kernel.api.ids

# From a post up to the first of its thread: whether one of them is hidden there.
IS_HIDDEN_HERE = """
CREATE FUNCTION messaging_is_hidden_here(message uuid, community uuid) RETURNS bool LANGUAGE sql STABLE AS $$
    WITH RECURSIVE thread (id, parent_id) AS (
        SELECT id, parent_id FROM messaging_message WHERE id = message
        UNION ALL
        SELECT parent.id, parent.parent_id FROM messaging_message parent JOIN thread ON parent.id = thread.parent_id
    )
    SELECT EXISTS (
        SELECT FROM thread JOIN messaging_hiddenhere hidden ON hidden.message_id = thread.id
        WHERE hidden.community_id = community
    )
$$
"""
ACTS = [
    *[(name, name.title()) for name in ("approved", "hidden", "restored")],
    ("dismissed", "reports dismissed"),
    ("banned", "Banned"),
    ("unbanned", "ban lifted"),
    ("added", "moderator added"),
    ("removed", "moderator removed"),
    ("changed", "rules changed"),
    ("created", "community created"),
    ("undone", "import removed"),
    ("excluded", "hidden on the site's pages"),
    ("included", "shown on the site's pages"),
    ("ended", "widget ended"),
    ("closed", "discussion closed"),
    ("reopened", "discussion reopened"),
    ("pinned", "Pinned"),
    ("unpinned", "Unpinned"),
]
# The constraint of before, which a reversal restores, refuses these decisions.
NEW_ACTS = ("excluded", "included", "ended", "closed", "reopened", "pinned", "unpinned")
FORGET = f"DELETE FROM messaging_decision WHERE act IN {NEW_ACTS}"  # noqa: S608  constants


class Migration(migrations.Migration):
    dependencies = [("messaging", "0042_decided_at")]

    operations = [
        migrations.CreateModel(
            name="HiddenHere",
            fields=[
                (
                    "id",
                    models.UUIDField(default=kernel.api.ids.new_id, editable=False, primary_key=True, serialize=False),
                ),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "community",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hidden_here",
                        to="messaging.community",
                    ),
                ),
                (
                    "message",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hidden_by",
                        to="messaging.message",
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "constraints": [models.UniqueConstraint(fields=["community", "message"], name="hidden_once")],
            },
        ),
        migrations.RemoveConstraint("decision", "decision_act_known"),
        migrations.AlterField("decision", "act", models.CharField(choices=ACTS, max_length=9)),
        migrations.AddConstraint(
            "decision",
            models.CheckConstraint(
                condition=models.Q(act__in=[name for name, _label in ACTS]), name="decision_act_known"
            ),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, FORGET),
        migrations.RunSQL(IS_HIDDEN_HERE, "DROP FUNCTION messaging_is_hidden_here(uuid, uuid)"),
    ]
