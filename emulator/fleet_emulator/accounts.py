"""The accounts of the embedded AWS, and the keys of each: the keys that sign a request decide its account.

moto takes the account from a variable of the process, from a header, or from the keys of users, and its own
for all other keys; so every client would reach whatever account it names.
"""

from __future__ import annotations

import hmac
import threading
from dataclasses import dataclass

from moto.core.responses import BaseResponse
from moto.sts.models import sts_backends

from fleet_emulator.product import Keys

ACCOUNT_HEADER = "x-moto-account-id"
"""The header that moto reads; the embedded AWS sets it, whatever the client sent."""


@dataclass(frozen=True, kw_only=True)
class Signer:
    """Whose a request may be, and what it has to be signed with."""

    account: str
    secret: str


class Accounts:
    """The keys of the account that the embedded AWS is started as, and of others, made when first asked for.

    Whoever has the keys of the first account has those of the others too: any role of any account can be
    assumed with them.
    """

    def __init__(self, keys: Keys, account: str) -> None:
        self._keys = {account: keys}
        self._lock = threading.Lock()

    def keys_of(self, account: str) -> Keys:
        """The keys that allow everything in an account."""
        with self._lock:
            return self._keys.setdefault(account, Keys.random())

    def signer(self, key_id: str, token: str) -> Signer | None:
        """Who signs with an access key; None if it is of no account, nor of a role that was assumed."""
        with self._lock:
            account_keys = list(self._keys.items())
        for account, keys in account_keys:
            if hmac.compare_digest(key_id.encode(), keys.access_key_id.encode()):
                return Signer(account=account, secret=keys.secret_access_key)
        for partitions in list(sts_backends.values()):
            for backend in list(partitions.values()):
                role = backend.get_assumed_role_from_access_key(key_id)
                if role and hmac.compare_digest(role.session_token.encode(), token.encode()):
                    return Signer(account=role.account_id, secret=str(role.secret_access_key))
        return None


def account_of_request(response: BaseResponse) -> str:
    """The account whose keys signed the request that moto answers."""
    return str(response.headers[ACCOUNT_HEADER])
