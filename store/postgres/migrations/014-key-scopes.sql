-- Keys of accounts that are no longer administrators: from now on a scope ends with the role, for good.

UPDATE api_keys SET scopes = array_remove(scopes, 'admin')
FROM accounts WHERE accounts.id = account_id AND role = 'user' AND 'admin' = ANY (scopes);
