"""The wheel, the image and the units that install the service."""
