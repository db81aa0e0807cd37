"""What balancers and monitors ask: `/healthz`, `/readyz` and `/metrics`. Nothing of it needs a credential or a Host."""
