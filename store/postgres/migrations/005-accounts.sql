-- People: their accounts, sessions, the tokens that they get by mail, and the mail that is to be sent.

CREATE TABLE accounts (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null for an ordinary account.
  tenant_id integer,
  email text NOT NULL,
  -- Addresses are compared without regard to case.
  email_key text NOT NULL GENERATED ALWAYS AS (lower(email)) STORED,
  email_verified_at timestamptz,
  -- A PHC string; null for an account that signs in elsewhere.
  password_hash text,
  name text,
  image text,
  role text NOT NULL DEFAULT 'user' CHECK (role IN ('user', 'administrator', 'operator')),
  is_active boolean NOT NULL DEFAULT true,
  -- Concerns session tokens that name no row of sessions.
  tokens_valid_after timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX accounts_email ON accounts (email_key) WHERE tenant_id IS NULL;
CREATE UNIQUE INDEX accounts_operator ON accounts (role) WHERE role = 'operator';

-- Who an account is at an external identity provider.
CREATE TABLE account_identities (
  provider text NOT NULL,
  provider_account_id text NOT NULL,
  account_id integer NOT NULL REFERENCES accounts ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  PRIMARY KEY (provider, provider_account_id)
);
CREATE INDEX account_identities_account ON account_identities (account_id);

CREATE TABLE sessions (
  sid text PRIMARY KEY,
  account_id integer NOT NULL REFERENCES accounts ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('cookie', 'token')),
  created_at timestamptz NOT NULL,
  -- Absolute: no renewal of a cookie goes beyond it.
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  address text,
  user_agent text
);
CREATE INDEX sessions_account ON sessions (account_id, created_at);
CREATE INDEX sessions_expires_at ON sessions (expires_at);

-- One of each purpose for an account: a newer token replaces the older one. Only the SHA-256 of a token is kept.
CREATE TABLE account_tokens (
  account_id integer NOT NULL REFERENCES accounts ON DELETE CASCADE,
  purpose text NOT NULL CHECK (purpose IN ('verification', 'password-reset')),
  digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
  -- The address that it was sent to.
  email text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (account_id, purpose)
);

-- What is to be sent. A token is made when the mail is sent, so that none lies here.
CREATE TABLE mail_outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  email text NOT NULL,
  -- Null where somebody asked by address: whether there is an account is looked up when the mail is due.
  account_id integer REFERENCES accounts ON DELETE CASCADE,
  created_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  attempts integer NOT NULL DEFAULT 0
);
CREATE INDEX mail_outbox_due_at ON mail_outbox (due_at, id);

-- How often something was done, in windows of fixed length.
CREATE TABLE rate_limits (
  kind text NOT NULL,
  key bytea NOT NULL,
  count integer NOT NULL,
  ends_at timestamptz NOT NULL,
  PRIMARY KEY (kind, key)
);
CREATE INDEX rate_limits_ends_at ON rate_limits (ends_at);

-- Wrong passwords, by account (a hash of its address, whether or not there is one) and by network.
CREATE TABLE login_failures (
  account bytea NOT NULL,
  network text NOT NULL,
  failures integer NOT NULL,
  last_at timestamptz NOT NULL,
  PRIMARY KEY (account, network)
);
CREATE INDEX login_failures_network ON login_failures (network);
CREATE INDEX login_failures_last_at ON login_failures (last_at);
