-- Alerts: rules, what they have found, and what is told of it to whom.

-- Removed ones stay until nothing that was told of them is kept any more.
CREATE TABLE alert_channels (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: of the service, that is of its administrators.
  owner integer REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind ~ '^[a-z]{1,20}$'),
  -- What may be shown.
  settings jsonb NOT NULL,
  -- The address and other secrets, encrypted (auth/secret-box.ts).
  sealed bytea NOT NULL,
  enabled boolean NOT NULL DEFAULT true,
  -- Why we have disabled it: 'gone' (410), 'failing' (five days), 'unsubscribed'; null where a person has, or nobody.
  disabled_reason text,
  -- Of the first attempt that failed since the last that did not.
  failing_since timestamptz,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  removed_at timestamptz
);
CREATE UNIQUE INDEX alert_channels_name ON alert_channels (coalesce(owner, 0), name) WHERE removed_at IS NULL;

CREATE TABLE alert_rules (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner integer REFERENCES accounts ON DELETE CASCADE,
  name text NOT NULL,
  selector jsonb,
  condition jsonb NOT NULL,
  for_seconds integer NOT NULL,
  keep_firing_seconds integer NOT NULL,
  severity text NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
  group_by text,
  enabled boolean NOT NULL,
  note text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  removed_at timestamptz
);
-- By which an import finds them again.
CREATE UNIQUE INDEX alert_rules_name ON alert_rules (coalesce(owner, 0), name) WHERE removed_at IS NULL;

CREATE TABLE alert_rule_channels (
  rule_id integer NOT NULL REFERENCES alert_rules ON DELETE CASCADE,
  channel_id integer NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
  PRIMARY KEY (rule_id, channel_id)
);
CREATE INDEX alert_rule_channels_channel ON alert_rule_channels (channel_id);

-- Up to when all that was received is evaluated, and written here.
CREATE TABLE alert_engine (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- Null before the first time.
  evaluated_until timestamptz,
  -- The last batch of transitions that is applied: one that is sent again is told from a new one.
  batch bigint NOT NULL DEFAULT 0
);
INSERT INTO alert_engine DEFAULT VALUES;

CREATE TABLE alerts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  rule_id integer NOT NULL REFERENCES alert_rules ON DELETE CASCADE,
  -- 0: the whole selector, or the service.
  device integer NOT NULL,
  metric text,
  severity text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'firing', 'resolved')),
  flapping boolean NOT NULL DEFAULT false,
  opened_at timestamptz NOT NULL,
  fired_at timestamptz,
  resolved_at timestamptz,
  -- 'cleared', or why else it ended.
  resolved_reason text,
  value double precision,
  acknowledged_by text,
  acknowledged_at timestamptz,
  UNIQUE (rule_id, device, opened_at)
);
CREATE UNIQUE INDEX alerts_open ON alerts (rule_id, device) WHERE state <> 'resolved';
CREATE INDEX alerts_rule ON alerts (rule_id, id);
CREATE INDEX alerts_device ON alerts (device, id);
CREATE INDEX alerts_resolved ON alerts (resolved_at) WHERE state = 'resolved';

CREATE TABLE alert_events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  alert_id bigint NOT NULL REFERENCES alerts ON DELETE CASCADE,
  at timestamptz NOT NULL,
  -- pending, firing, resolved, flapping, settled, acknowledged, notified, silenced
  kind text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX alert_events_alert ON alert_events (alert_id, id);

-- The state of pairs that are not idle, and of those that have resolved within two hours; see alerts/core/pair.ts.
CREATE TABLE alert_pairs (
  rule_id integer NOT NULL REFERENCES alert_rules ON DELETE CASCADE,
  device integer NOT NULL,
  state jsonb NOT NULL,
  -- The readings up to here are in it, epoch microseconds.
  state_us double precision NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (rule_id, device)
);
CREATE INDEX alert_pairs_changed ON alert_pairs (changed_at);

-- What is told together: by channel, rule and the value of its tag.
CREATE TABLE alert_groups (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  channel_id integer NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
  rule_id integer NOT NULL REFERENCES alert_rules ON DELETE CASCADE,
  value text NOT NULL DEFAULT '',
  last_sent_at timestamptz,
  -- Null: nothing is to be told, and nothing repeated.
  due_at timestamptz,
  UNIQUE (channel_id, rule_id, value)
);
CREATE INDEX alert_groups_rule ON alert_groups (rule_id);
CREATE INDEX alert_groups_due ON alert_groups (due_at) WHERE due_at IS NOT NULL;

-- The outbox: what a group is still to say of an alert, and what it has said.
CREATE TABLE alert_group_alerts (
  group_id bigint NOT NULL REFERENCES alert_groups ON DELETE CASCADE,
  alert_id bigint NOT NULL REFERENCES alerts ON DELETE CASCADE,
  told text NOT NULL DEFAULT 'nothing' CHECK (told IN ('nothing', 'firing')),
  owes text CHECK (owes IN ('firing', 'flapping', 'resolved')),
  PRIMARY KEY (group_id, alert_id)
);
CREATE INDEX alert_group_alerts_alert ON alert_group_alerts (alert_id);
CREATE INDEX alert_group_alerts_owes ON alert_group_alerts (group_id) WHERE owes IS NOT NULL;

CREATE TABLE alert_notifications (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- The same however often it is sent.
  webhook_id text NOT NULL UNIQUE,
  channel_id integer NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
  rule_id integer REFERENCES alert_rules ON DELETE SET NULL,
  kind text NOT NULL CHECK (kind IN ('firing', 'resolved', 'repeat', 'flapping', 'refresh', 'test')),
  severity text NOT NULL,
  -- alerts/core/message.ts
  message jsonb NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'given_up', 'cancelled')),
  attempts integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  -- Until then a sender has it.
  claimed_until timestamptz,
  ended_at timestamptz
);
CREATE INDEX alert_notifications_due ON alert_notifications (channel_id, due_at, id) WHERE state = 'waiting';
CREATE INDEX alert_notifications_channel ON alert_notifications (channel_id, id);
CREATE INDEX alert_notifications_rule ON alert_notifications (rule_id);
CREATE INDEX alert_notifications_ended ON alert_notifications (ended_at) WHERE state <> 'waiting';

CREATE TABLE alert_attempts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  notification_id bigint NOT NULL REFERENCES alert_notifications ON DELETE CASCADE,
  at timestamptz NOT NULL,
  -- Null without an answer.
  status integer,
  duration_ms integer NOT NULL,
  error text,
  answer text NOT NULL DEFAULT '' CHECK (char_length(answer) <= 1000),
  by_hand boolean NOT NULL DEFAULT false
);
CREATE INDEX alert_attempts_notification ON alert_attempts (notification_id, id);

CREATE TABLE alert_silences (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Null: of administrators, for all alerts; else for alerts of this account's rules.
  owner integer REFERENCES accounts ON DELETE CASCADE,
  selector jsonb NOT NULL,
  rule_id integer REFERENCES alert_rules ON DELETE CASCADE,
  from_at timestamptz NOT NULL,
  -- Null only with weekly windows.
  until_at timestamptz,
  -- [{"days":[1,2],"from":"22:00","until":"06:00"}], in TIME_ZONE; over midnight where until <= from.
  weekly jsonb,
  reason text NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz NOT NULL,
  removed_at timestamptz,
  CHECK (until_at IS NOT NULL OR weekly IS NOT NULL)
);
CREATE INDEX alert_silences_owner ON alert_silences (owner, id);
CREATE INDEX alert_silences_rule ON alert_silences (rule_id) WHERE rule_id IS NOT NULL;

-- By which a mail's recipient leaves a channel; only digests of tokens.
CREATE TABLE alert_unsubscribes (
  digest bytea PRIMARY KEY CHECK (length(digest) = 32),
  channel_id integer NOT NULL REFERENCES alert_channels ON DELETE CASCADE,
  address text NOT NULL,
  created_at timestamptz NOT NULL
);
