/** Declares the schema of the settings, from which `npm run docs` generates docs/settings.md. */

import { resolve } from 'node:path'
import { z } from 'zod'
import { parseEmailAddress } from '../../auth/accounts/email-address.ts'
import { signUpModes } from '../../auth/accounts/sign-up.ts'
import { isTimeZone } from '../../auth/time-zone.ts'
import { defaultDeviceTags } from '../../ingest/formats/line-protocol-names.ts'
import { questdbReplicas } from './questdb-replicas.ts'
import {
  archiveUrl,
  brokers,
  bytes,
  databaseUrl,
  gibibyte,
  isFrameOrigin,
  isNetwork,
  isOrigin,
  isStrongSecret,
  lineFields,
  list,
  mqttBrokers,
  mqttDecoders,
  providerUrl,
  range,
  saslMechanisms,
  serverUrl,
  statedUnits,
  wholeNumber,
} from './setting-values.ts'

/** A header of `/embed` lists them. */
const embedOriginsMax = 50

/** One key for each variable. A subject begins with a key of `setting-groups.ts`. */
export const Settings = z.object({
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  PORT: wholeNumber(0, 65_535).default(8080).describe('Port to listen on; 0 picks a free one.'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .transform(path => resolve(path))
    .describe('Data directory.'),
  TIME_ZONE: z
    .string()
    .default(Intl.DateTimeFormat().resolvedOptions().timeZone)
    .refine(isTimeZone, 'must be an IANA zone such as Europe/Berlin')
    .describe('Time zone of local times in responses; default: system time zone.'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address such as https://barograph.example' })
    .optional()
    .describe('Base URL for clients, used in links; default is the URL of the request.'),
  QUESTDB_HTTP: databaseUrl(/^https?:$/, 'http://user:password@host:9000')
    .optional()
    .describe('HTTP address of an external QuestDB, with credentials; default is a managed one.'),
  QUESTDB_PG: databaseUrl(/^postgres(ql)?:$/, 'postgresql://user:password@host:8812/qdb')
    .optional()
    .describe('PostgreSQL-wire address of the same QuestDB.'),
  QUESTDB_COMMIT_MODE: z
    .enum(['sync', 'nosync'], { error: 'must be sync or nosync' })
    .default('sync')
    .describe('Commit mode of the managed QuestDB; nosync is faster, but a power cut may lose commits.'),
  QUESTDB_PG_PORT: wholeNumber(1, 65_535)
    .optional()
    .describe(
      'Port on 127.0.0.1 where the managed QuestDB takes readers, such as Grafana; by default a free port, and no user for readers.',
    ),
  QUESTDB_ACCEPT_LOSS: z.iso
    .datetime({ error: 'must be a time in UTC as the message has it, such as 2026-11-28T09:30:00Z' })
    .transform(text => Date.parse(text))
    .optional()
    .describe('Accepts the loss of rows by a QuestDB up to this time, which the log and `doctor` report; needed once.'),
  DATABASE_URL: databaseUrl(/^postgres(ql)?:$/, 'postgresql://user:password@host:5432/barograph')
    .optional()
    .describe(
      'External PostgreSQL, exclusive to this service and without a connection pooler; default is a managed one, on a Unix socket.',
    ),
  KAFKA_BROKERS: brokers
    .optional()
    .describe(
      'Kafka brokers, comma-separated host:port, whose topics are the journals; default is none, with journals on disk.',
    ),
  QUESTDB_REPLICAS: questdbReplicas
    .optional()
    .describe(
      'QuestDBs of the replicas from 2 on, where Kafka is the journal: number=HTTP address,PostgreSQL-wire address, with blanks between replicas.',
    ),
  QUESTDB_READ: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe(
      'Number of the replica of QuestDB that this process reads while it answers and is not behind; default is the one that is least behind.',
    ),
  KAFKA_TLS: z
    .string()
    .regex(/^true$|[./]/, 'must be true or the path of a file with CA certificates (PEM)')
    .optional()
    .describe('TLS to the brokers: true, or the path of a file (PEM) with trusted CA certificates.'),
  KAFKA_TLS_CERT: z
    .string()
    .optional()
    .describe('File with the certificate of this client for the brokers (PEM), for mutual TLS; needs KAFKA_TLS.'),
  KAFKA_TLS_KEY: z.string().optional().describe('File with the private key of that certificate (PEM).'),
  KAFKA_SASL_MECHANISM: z
    .enum(saslMechanisms, { error: `must be ${saslMechanisms.slice(0, -1).join(', ')} or ${saslMechanisms.at(-1)}` })
    .optional()
    .describe('SASL mechanism for the brokers: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER; default is none.'),
  KAFKA_SASL_USERNAME: z
    .string()
    .optional()
    .describe('User name at the brokers; for OAUTHBEARER the client identifier.'),
  KAFKA_SASL_PASSWORD: z.string().optional().describe('Password at the brokers; for OAUTHBEARER the client secret.'),
  KAFKA_SASL_TOKEN_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address such as https://login.example/oauth2/token' })
    .optional()
    .describe('Where OAUTHBEARER gets tokens, by the OAuth 2.0 grant of client credentials.'),
  KAFKA_SASL_SCOPE: z.string().optional().describe('Scope of these tokens.'),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be 1 to 100 letters, digits, dots, underscores and hyphens')
    .default('barograph-')
    .describe('Prefix of the topic names.'),
  KAFKA_REPLICATION: wholeNumber(1, 9)
    .default(3)
    .describe('Replication factor of each topic; from 2 on, at least two brokers have each acknowledged reading.'),
  KAFKA_RETENTION_HOURS: wholeNumber(1, 87_600)
    .default(168)
    .describe('How long Kafka keeps records; those that QuestDB has not taken by then would be lost.'),
  NODE_LEASE_SECONDS: wholeNumber(1, 60)
    .default(3)
    .describe(
      'How long a node continues without PostgreSQL, and how long a change waits for a node that does not answer.',
    ),
  SECRETS_DIR: z
    .string()
    .min(1)
    .transform(path => resolve(path))
    .optional()
    .describe('Folder with the secrets that all nodes share; by default those in DATA_DIR.'),
  TLS_CERT: z.string().optional().describe('Certificate chain file (PEM); with TLS_KEY it enables HTTPS.'),
  TLS_KEY: z.string().optional().describe('Private key file (PEM).'),
  TRUST_PROXY: z
    .string()
    .optional()
    .transform(text => text?.split(',').map(part => part.trim()))
    .refine(
      parts => parts?.every(isNetwork) ?? true,
      'must be comma-separated addresses or networks such as 10.0.0.0/8',
    )
    .describe('Proxies whose X-Forwarded-For, -Host and -Proto are trusted: comma-separated addresses or networks.'),
  AIR_QUALITY_HTTP: z
    .enum(['local', 'allow'], { error: 'must be local or allow' })
    .default('local')
    .describe('Who may use /api/v1.0 without HTTPS: local (requests from the machine itself) or allow (everybody).'),
  MQTT_PORT: wholeNumber(0, 65_535)
    .optional()
    .describe('Port of MQTT 3.1.1 and 5 on HOST, with TLS where TLS_CERT is set; 0 picks a free one, default is none.'),
  MQTT_DECODERS: mqttDecoders
    .optional()
    .describe(
      'Topics of sensors that clients of MQTT_PORT may publish to: decoders with topic filters, with blanks between them.',
    ),
  MQTT_BROKER_URL: serverUrl(/^mqtts?:$/, 'mqtts://user:password@host:8883')
    .optional()
    .describe('Outside MQTT broker whose messages to readings/+ are stored; its access lists are trusted.'),
  MQTT_BROKERS: mqttBrokers
    .optional()
    .describe(
      'Outside MQTT brokers of sensors: addresses, each with its decoders and topic filters, with blanks between all of them.',
    ),
  DECODERS_CREATE_DEVICES: z
    .string()
    .refine(text => parseEmailAddress(text).ok, 'must be an e-mail address')
    .optional()
    .describe(
      'Address of the account to which messages of MQTT_BROKERS add unknown devices, up to its limit; default is none.',
    ),
  HOME_ASSISTANT_DISCOVERY: z
    .enum(['on', 'off'], { error: 'must be on or off' })
    .default('off')
    .describe(
      'Whether devices are published for Home Assistant, at MQTT_BROKER_URL or else at the first of MQTT_BROKERS.',
    ),
  MQTT_BROKER_VERSION: z
    .enum(['3.1.1', '5'], { error: 'must be 3.1.1 or 5' })
    .default('3.1.1')
    .describe('Protocol version spoken with these brokers: 3.1.1 or 5.'),
  MQTT_BROKER_CLIENT_ID: z
    .string()
    .regex(/^[0-9A-Za-z_-]{1,64}$/, 'must be 1 to 64 letters, digits, hyphens and underscores')
    .default('barograph')
    .describe(
      'Client identifier of the session at MQTT_BROKER_URL, and first level of the topics for Home Assistant; each service needs one of its own. At MQTT_BROKERS a number is behind it.',
    ),
  PARENT_PID: wholeNumber(1, 4_194_304)
    .optional()
    .describe('Process id of the parent; the service stops when it exits. Set by npm start.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info')
    .describe('Log level: fatal, error, warn, info, debug or silent.'),
  LOG_FORMAT: z
    .enum(['auto', 'json', 'pretty'], { error: 'must be auto, json or pretty' })
    .default('auto')
    .describe('Log format: json, pretty, or auto (pretty on a terminal, json elsewhere).'),
  JOURNAL_MAX: bytes
    .refine(value => value >= 1024 ** 2, 'must be at least 1MiB')
    .default(20 * gibibyte)
    .describe('Maximum size of the journal of readings and of the journal of points; beyond it requests get 503.'),
  JOURNAL_RESERVE: bytes.default(gibibyte / 4).describe('Free disk space that the journal leaves unused.'),
  JOURNAL_KEEP_HOURS: wholeNumber(0, 8760)
    .default(24)
    .describe('Retention of the journal in hours when QuestDB does not run in sync mode.'),
  CONNECTIONS_MAX: wholeNumber(1, 1_000_000)
    .default(20_000)
    .describe('Maximum number of connections; others are closed at once. Lowered to fit the limit of open files.'),
  CONNECTIONS_PER_ADDRESS: wholeNumber(1, 1_000_000)
    .optional()
    .describe(
      'Maximum number of connections per IPv4 address or IPv6 /64; default is a quarter. Not applied to TRUST_PROXY.',
    ),
  BATCH_BYTES_MAX: bytes
    .refine(value => value >= 1024, 'must be at least 1KiB')
    .default(gibibyte / 4)
    .describe('Maximum size of a body of POST /api/log/batch, without its compression.'),
  DEVICES_PER_OWNER: wholeNumber(0, 1_000_000)
    .default(100)
    .describe('Maximum number of devices of an account for additions by its API keys.'),
  DEVICES_PER_ADMINISTRATOR: wholeNumber(0, 1_000_000)
    .default(10_000)
    .describe('The same for administrators and the operator.'),
  METRICS: z
    .enum(['open', 'declared'], { error: 'must be open or declared' })
    .default('open')
    .describe('Handling of a number in a field without a metric: open (makes the metric) or declared (is ignored).'),
  METRICS_PER_OWNER: wholeNumber(0, 10_000)
    .default(100)
    .describe('Maximum number of metrics that readings may make in an account, beside the catalogue.'),
  DEVICE_RATE: wholeNumber(1, 1_000_000).default(500).describe('Sustained rate limit per device, readings per second.'),
  DEVICE_BURST: wholeNumber(1, 10_000_000).default(20_000).describe('Burst limit per device, readings.'),
  BULK_RATE: wholeNumber(1, 10_000_000)
    .default(100_000)
    .describe('Sustained rate limit per credential of batches and line protocol, readings per second.'),
  BULK_BURST: wholeNumber(1, 1_000_000_000)
    .default(10_000_000)
    .describe('Burst limit of the same, readings; the backlog of an outage fits in.'),
  IDEMPOTENCY_KEYS_MAX: wholeNumber(1, 1_000_000)
    .default(10_000)
    .describe('Idempotency keys that are stored for a credential, each for 24 hours; others get 429.'),
  FAILED_ATTEMPTS: wholeNumber(1, 1_000_000)
    .default(60)
    .describe('Failed authentications per minute and address; others get 429.'),
  LINE_PROTOCOL_BODY_MAX: bytes
    .refine(value => value >= 1024 && value <= gibibyte, 'must be from 1KiB to 1GiB')
    .default(32 * 1024 ** 2)
    .describe('Maximum size of a body in line protocol, decompressed; four times as much is held at a time.'),
  LINE_PROTOCOL_DEVICE_TAGS: list
    .default(defaultDeviceTags)
    .describe(
      'Tags of line protocol that name the device, comma-separated; the first that a line has counts. With the credential of one device only the first tag of this list counts; the others are ignored.',
    ),
  LINE_PROTOCOL_FIELDS: lineFields
    .optional()
    .describe(
      'Fields of line protocol beside those named as the metrics: temp=temperature, or measurement:field=metric.',
    ),
  LINE_PROTOCOL_PRESET: z
    .enum(['home-assistant'], { error: 'must be home-assistant' })
    .optional()
    .describe('Sender whose lines are read by their own rules: home-assistant (an entity a line); default is none.'),
  LINE_PROTOCOL_UNITS: statedUnits
    .optional()
    .describe(
      'Units of metrics in lines of home-assistant that state none, such as temperature=degF,wind_speed=mph; default is the unit of the metric.',
    ),
  LINE_PROTOCOL_UNKNOWN_FIELDS: z
    .enum(['reject', 'ignore'], { error: 'must be reject or ignore' })
    .default('reject')
    .describe('Handling of lines with fields that become no metric: reject the lines, or ignore the fields.'),
  AUTH_HOST: z
    .enum(['on', 'off'], { error: 'must be on or off' })
    .default('on')
    .describe('Whether people sign in here: the pages (/sign-in, /account and others) and the Auth.js host, /auth.'),
  READS: z
    .enum(['open', 'private'], { error: 'must be open or private' })
    .default('open')
    .describe(
      'Who may read loggers: open (everybody) or private (a device itself, a person their own devices, viewers and administrators all).',
    ),
  SIGN_UP: z
    .enum(signUpModes, { error: 'must be open, invited or off' })
    .optional()
    .describe(
      'Who may make an account: open (everybody), invited (by an administrator) or off; default is open, with READS=private invited.',
    ),
  EMBED_ORIGINS: list
    .optional()
    .refine(
      origins => origins === undefined || (origins.length <= embedOriginsMax && origins.every(isFrameOrigin)),
      `must be at most ${embedOriginsMax} origins such as https://www.example, without wildcards, with commas`,
    )
    .describe(
      'Comma-separated origins of sites whose pages may show links to saved views in a frame, at /embed; default is none.',
    ),
  EVENTS_CLIENTS_MAX: wholeNumber(1, 100_000)
    .default(1000)
    .describe('Maximum number of clients of /api/events; others get 503.'),
  EVENTS_CLIENTS_PER_ADDRESS: wholeNumber(1, 100_000)
    .optional()
    .describe(
      'Maximum number of them per IPv4 address or IPv6 /64, and per account or device with READS=private; others get 429. Default is a tenth.',
    ),
  EVENTS_WINDOW_MINUTES: wholeNumber(0, 1440)
    .default(5)
    .describe('How far back a client of /api/events may resume after a disconnection.'),
  EVENTS_WINDOW_BYTES: bytes
    .refine(value => value >= 1024 ** 2 && value <= gibibyte, 'must be from 1MiB to 1GiB')
    .default(16 * 1024 ** 2)
    .describe(
      'Memory for the readings of that window, 60 bytes each, 120 where devices send more than the five metrics, with Kafka 8 more; of more readings, only the last ones are kept.',
    ),
  SESSION_FORMAT: z
    .enum(['jwe-v5', 'jwe-v4', 'hs256'], { error: 'must be jwe-v5, jwe-v4 or hs256' })
    .default('jwe-v5')
    .describe('Format of session cookies: Auth.js 5 (jwe-v5), NextAuth.js 4 (jwe-v4), or signed with HS256.'),
  SESSION_SECRETS: list
    .optional()
    .refine(
      secrets => secrets?.every(isStrongSecret) ?? true,
      'must be random, at least 43 characters each, with commas',
    )
    .describe(
      'Secrets of session cookies (AUTH_SECRET of the front end), comma-separated; the first encrypts, the others only decrypt. Default: generated in secrets/.',
    ),
  SESSION_UNREVOCABLE: z
    .enum(['accept', 'refuse'], { error: 'must be accept or refuse' })
    .default('accept')
    .describe('How to treat session cookies without sid and auth_time, which a password change cannot revoke.'),
  SERVICE_SECRET: z
    .string()
    .refine(isStrongSecret, 'must be random, at least 43 characters')
    .optional()
    .describe('Secret that authenticates the front end (X-Service-Secret); default: generated in secrets/.'),
  TOKEN_MINUTES: wholeNumber(5, 60).default(30).describe('Lifetime of tokens from POST /v1/auth/token.'),
  DELETE_WITHIN_MINUTES: wholeNumber(1, 1440)
    .default(60)
    .describe('Maximum age of a session that deletes its account.'),
  ALLOWED_ORIGINS: list
    .optional()
    .refine(origins => origins?.every(isOrigin) ?? true, 'must be origins such as https://app.example, with commas')
    .describe('Comma-separated origins besides PUBLIC_URL that may use session cookies.'),
  OAUTH_PROVIDERS: list
    .optional()
    .describe('Comma-separated identity providers that the front end may use for sign-in.'),
  REGISTRATIONS_PER_HOUR: wholeNumber(1, 1_000_000).default(100).describe('Registrations per hour and address.'),
  MAIL_REQUESTS_PER_HOUR: wholeNumber(1, 1_000_000)
    .default(10)
    .describe('Requests per hour and address for verification mails, and the same number for reset mails.'),
  SMTP_URL: serverUrl(/^smtps?:$/, 'smtp://user:password@host:587')
    .optional()
    .describe('SMTP server; by default mails are written to files in mail/ in the data directory.'),
  MAIL_FROM: z
    .string()
    .refine(text => parseEmailAddress(text).ok, 'must be an e-mail address')
    .optional()
    .describe('Sender address of mails; default is barograph at the host of PUBLIC_URL.'),
  ALERT_TARGETS_ALLOWED: list
    .optional()
    .refine(
      targets => targets?.every(target => isOrigin(target) || isNetwork(target)) ?? true,
      'must be origins such as http://127.0.0.1:9093, addresses or networks such as 10.0.0.0/8, with commas',
    )
    .describe(
      'Where notifications of alerts may go besides public addresses with https: comma-separated origins, addresses and networks, with http as well.',
    ),
  ALERT_PAIRS_PER_OWNER: wholeNumber(1, 1_000_000)
    .default(100_000)
    .describe(
      'Pairs of a rule and a device that the alert rules of an account may have; administrators have no such limit.',
    ),
  DRIVE_NAME: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,40}$/, 'must be lower-case letters, digits and hyphens')
    .refine(name => name !== 'device', 'must not be device, which has operations of its own')
    .default('google-drive')
    .describe('Name of the external drive in the addresses of its popup.'),
  DRIVE_CLIENT_ID: z
    .string()
    .optional()
    .describe('Client id at the OAuth provider of the drive; without it, drives cannot be linked.'),
  DRIVE_CLIENT_SECRET: z.string().optional().describe('Client secret at that provider.'),
  DRIVE_AUTHORIZATION_URL: providerUrl.optional().describe('Address of its consent page.'),
  DRIVE_TOKEN_URL: providerUrl.optional().describe('Address where it exchanges a code for tokens.'),
  DRIVE_SCOPE: z
    .string()
    .min(1)
    .default('https://www.googleapis.com/auth/drive.file')
    .describe('Scopes that the user is asked to allow, space-separated.'),
  DRIVE_OPENER_ORIGIN: z
    .string()
    .refine(isOrigin, 'must be an origin such as https://app.example')
    .optional()
    .describe('Origin of the front end that opens the popup and gets the refresh token.'),
  TIMESTAMP_AHEAD_SECONDS: wholeNumber(0, 86_400)
    .default(300)
    .describe('How far a timestamp may lie ahead of the server clock.'),
  RETENTION_DAYS: wholeNumber(1, 36_500)
    .optional()
    .describe(
      'Whole days (UTC) that readings are kept, besides today. Then only their hours stay, and older readings are refused. Points of stations do not expire. Default: for ever.',
    ),
  ROTATION_GRACE_HOURS: wholeNumber(0, 8760)
    .default(24)
    .describe('How long the old password of a device and the old secret of a tenant stay valid after a rotation.'),
  ARCHIVE_URL: archiveUrl
    .optional()
    .describe(
      'Where days of raw rows are written as Parquet before they expire: file:///folder or s3://bucket/prefix; default is none.',
    ),
  ARCHIVE_S3_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an address such as https://s3.example' })
    .optional()
    .describe('Address of the S3-compatible store; default is AWS in the region.'),
  ARCHIVE_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,40}$/, 'must be lower-case letters, digits and hyphens')
    .default('us-east-1')
    .describe('Region of the bucket.'),
  ARCHIVE_S3_KEY_ID: z.string().optional().describe('Access key id at the store.'),
  ARCHIVE_S3_SECRET: z.string().optional().describe('Secret access key at the store.'),
  LATEST_BYTES_MAX: bytes
    .refine(value => value >= 1024, 'must be at least 1KiB')
    .default(32 * 1024 ** 2)
    .describe('Maximum size of a latest/all response with raw points; beyond it, it holds means.'),
  CACHE_BYTES_MAX: bytes
    .refine(value => value >= 1024 ** 2, 'must be at least 1MiB')
    .default(128 * 1024 ** 2)
    .describe('Size of the response cache; responses being sent may use as much again.'),
  QUERY_TIMEOUT_SECONDS: wholeNumber(1, 3600)
    .default(30)
    .describe('Timeout of a response that needs QuestDB, including the time in the queue.'),
  RANGE_TEMPERATURE: range.default({ min: -90, max: 85 }).describe('Accepted temperatures, °C.'),
  RANGE_HUMIDITY: range.default({ min: 0, max: 103 }).describe('Accepted humidity, %; above 100 is stored as 100.'),
  RANGE_PRESSURE: range.default({ min: 300, max: 1100 }).describe('Accepted pressure, hPa.'),
  RANGE_BATTERY_VOLTAGE: range.default({ min: 0, max: 100 }).describe('Accepted battery voltage, V.'),
  RANGE_BATTERY_PERCENTAGE: range
    .default({ min: 0, max: 110 })
    .describe('Accepted battery charge, %; above 100 is stored as 100.'),
})
