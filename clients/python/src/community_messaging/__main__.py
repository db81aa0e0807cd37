"""`python -m community_messaging` is `cm`."""

from community_messaging.cli import main

if __name__ == "__main__":
    main()
