from django.db import migrations

from tests.faults.next_release import WIDENED, wider


class Migration(migrations.Migration):
    operations = [migrations.RunSQL(*wider(*column)) for column in WIDENED]
