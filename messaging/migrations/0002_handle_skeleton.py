from django.db import migrations, models
from django.db.models import F, Func, Value
from django.db.models.functions import Replace


class Migration(migrations.Migration):
    dependencies = [
        ("messaging", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="handleclaim",
            name="skeleton",
            field=models.GeneratedField(
                db_persist=True,
                expression=Replace(
                    Replace(
                        Replace(
                            Func(
                                F("handle"),
                                Value("0123456789iq_"),
                                Value("olzeasbtbglg"),
                                function="TRANSLATE",
                                output_field=models.CharField(),
                            ),
                            Value("rn"),
                            Value("m"),
                        ),
                        Value("vv"),
                        Value("w"),
                    ),
                    Value("cl"),
                    Value("d"),
                ),
                output_field=models.CharField(max_length=30),
            ),
        ),
        migrations.AddIndex(
            model_name="handleclaim",
            index=models.Index("skeleton", name="handle_skeleton"),
        ),
    ]
