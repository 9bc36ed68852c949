-- Invitations to make an account, each for one address; a newer one replaces the older one. Only the SHA-256 of a token is
-- kept: of that in the link that was handed out, and of that in the mail, which is made when the mail is sent.

CREATE TABLE invitations (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  email text NOT NULL,
  -- As of accounts.
  email_key text NOT NULL GENERATED ALWAYS AS (lower(email)) STORED UNIQUE,
  role text NOT NULL CHECK (role IN ('user', 'administrator')),
  is_viewer boolean NOT NULL,
  -- As in the audit.
  invited_by text NOT NULL,
  link_digest bytea NOT NULL UNIQUE CHECK (length(link_digest) = 32),
  mail_digest bytea UNIQUE CHECK (length(mail_digest) = 32),
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX invitations_expires_at ON invitations (expires_at);
