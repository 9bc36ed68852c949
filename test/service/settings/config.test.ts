import { test } from 'tap'
import { ConfigError, readConfig } from '../../../service/settings/config.ts'

test('an empty variable is one that is not set', async t => {
  t.equal(readConfig({ PORT: '', HOST: '' }).PORT, 8080)
})

test('who may sign up depends on who may read, unless it is said', async t => {
  t.equal(readConfig({}).SIGN_UP, 'open')
  t.equal(readConfig({ READS: 'private' }).SIGN_UP, 'invited')
  t.equal(readConfig({ READS: 'private', SIGN_UP: '' }).SIGN_UP, 'invited')
  for (const SIGN_UP of ['open', 'invited', 'off']) t.equal(readConfig({ READS: 'private', SIGN_UP }).SIGN_UP, SIGN_UP)
  t.throws(() => readConfig({ SIGN_UP: 'closed' }), /SIGN_UP must be open, invited or off/)
})

test('sizes, ranges and lists are read', async t => {
  const config = readConfig({
    JOURNAL_MAX: '2GiB',
    JOURNAL_RESERVE: '1000',
    RANGE_TEMPERATURE: '-5.5..-1',
    TRUST_PROXY: '10.0.0.0/8, 127.0.0.1, ::1, fd00::/8',
  })
  t.equal(config.JOURNAL_MAX, 2 * 1024 ** 3)
  t.equal(config.JOURNAL_RESERVE, 1000)
  t.strictSame(config.RANGE_TEMPERATURE, { min: -5.5, max: -1 })
  t.strictSame(config.TRUST_PROXY, ['10.0.0.0/8', '127.0.0.1', '::1', 'fd00::/8'])
})

test('fields of line protocol are read with their metrics', async t => {
  const read = (text: string) => readConfig({ LINE_PROTOCOL_FIELDS: text }).LINE_PROTOCOL_FIELDS
  t.strictSame(read('temp=temperature, %:value=humidity'), [
    { field: 'temp', metric: 'temperature' },
    { measurement: '%', field: 'value', metric: 'humidity' },
  ])
  for (const text of 'temp|temp=warmth|a:b:c=humidity|=humidity|:x=humidity|a=b=humidity|x=humidity,'.split('|')) {
    t.throws(() => read(text), /LINE_PROTOCOL_FIELDS must be fields with their metrics/, text)
  }
  t.strictSame(readConfig({}).LINE_PROTOCOL_DEVICE_TAGS, ['device', 'host'])
})

test('units of line protocol are those that their metrics can have', async t => {
  const read = (text: string) => readConfig({ LINE_PROTOCOL_UNITS: text }).LINE_PROTOCOL_UNITS
  t.same(read('temperature=degF, wind_speed=mph'), new Map(Object.entries({ temperature: 'degF', wind_speed: 'mph' })))
  for (const text of ['temperature', 'temperature=', 'temperature=hPa', 'warmth=degF', 'temperature=degF=C']) {
    t.throws(() => read(text), /LINE_PROTOCOL_UNITS must be metrics with their units: /, text)
  }
})

test('sites that may show views in a frame are origins, which end no directive of a policy', async t => {
  const read = (EMBED_ORIGINS: string) => readConfig({ EMBED_ORIGINS }).EMBED_ORIGINS
  t.equal(read(''), undefined)
  t.strictSame(read('https://www.example, http://10.0.0.5:8081'), ['https://www.example', 'http://10.0.0.5:8081'])
  t.strictSame(read('https://xn--bcher-kva.example'), ['https://xn--bcher-kva.example'])
  const hosts = "*|*.example|a.example;script-src|a.example'|a.example/|a.example/page|a.example:443|user@a.example"
  const custom = 'A.example|[::1]|a.example https://b.example|a.example\r\nx-evil: 1|a.example,'
  for (const text of [
    ...`${hosts}|${custom}`.split('|').map(host => `https://${host}`),
    ...['*', 'null', 'https:', 'ftp://a.example', 'data:,', "'self'"],
    Array.from({ length: 51 }, (_, place) => `https://a${place}.example`).join(),
  ])
    t.throws(() => read(text), /EMBED_ORIGINS must be at most 50 origins such as/, text.slice(0, 40))
})

const kafka = { KAFKA_BROKERS: 'kafka-1:9092' }
const sasl = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'a', KAFKA_SASL_PASSWORD: 'secret' }
const databases = {
  QUESTDB_HTTP: 'http://questdb:9000',
  QUESTDB_PG: 'postgresql://questdb:8812/qdb',
  DATABASE_URL: 'postgresql://a:secret@postgres/c',
}

test('brokers of Kafka are read, and nothing of Kafka is set without them', async t => {
  const brokers = ['kafka_1.example:9092', '10.0.0.2:65535', '[::1]:1']
  t.strictSame(readConfig({ KAFKA_BROKERS: brokers.join(', ') }).KAFKA_BROKERS, brokers)
  t.equal(readConfig({ KAFKA_TLS: '', KAFKA_REPLICATION: '' }).KAFKA_BROKERS, undefined, 'what is empty is not set')
  t.match(readConfig(kafka), { KAFKA_TOPIC_PREFIX: 'barograph-', KAFKA_REPLICATION: 3, KAFKA_RETENTION_HOURS: 168 })
})

test('a wrong setting is named with what it should be', async t => {
  const wrong: [Record<string, string>, RegExp][] = [
    [{ PORT: '65536' }, /PORT must be from 0 to 65535/],
    [{ PORT: 'http' }, /PORT must be a whole number/],
    [{ TIME_ZONE: 'Mars/Olympus' }, /TIME_ZONE must be an IANA zone such as/],
    [{ PUBLIC_URL: 'ftp://x' }, /PUBLIC_URL must be an address such as/],
    [{ JOURNAL_MAX: '1KiB' }, /JOURNAL_MAX must be at least 1MiB/],
    [{ JOURNAL_MAX: 'much' }, /JOURNAL_MAX must be a size such as/],
    [{ RANGE_HUMIDITY: '5..1' }, /RANGE_HUMIDITY must begin with the smaller number/],
    [{ TLS_CERT: '/x.pem' }, /TLS_CERT and TLS_KEY must be set together/],
    [{ DRIVE_CLIENT_ID: 'x' }, /DRIVE_CLIENT_ID, .*DRIVE_TOKEN_URL and DRIVE_OPENER_ORIGIN must be set together/],
    [{ DRIVE_TOKEN_URL: 'http://provider.example/token' }, /DRIVE_TOKEN_URL must be an https address/],
    [{ DRIVE_NAME: 'device' }, /DRIVE_NAME must not be device/],
    [{ QUESTDB_HTTP: 'http://127.0.0.1:9000' }, /QUESTDB_HTTP and QUESTDB_PG must be set together/],
    [{ QUESTDB_PG_PORT: '0' }, /QUESTDB_PG_PORT must be from 1 to 65535/],
    [{ ...databases, QUESTDB_PG_PORT: '8812' }, /QUESTDB_PG_PORT is for the managed QuestDB/],
    [{ DATABASE_URL: 'nowhere' }, /DATABASE_URL must be an address such as/],
    [{ DATABASE_URL: 'http://user:password@127.0.0.1/x' }, /DATABASE_URL must be an address such as postgresql:/],
    [{ DATABASE_URL: 'postgresql://user:100%@127.0.0.1/x' }, /DATABASE_URL must be an address such as/],
    [{ MQTT_BROKER_URL: 'mqtt://%C3:%A9@127.0.0.1' }, /MQTT_BROKER_URL must be an address such as mqtts:/],
    [{ QUESTDB_HTTP: 'tcp://127.0.0.1:9009' }, /QUESTDB_HTTP must be an address such as http:/],
    [{ TRUST_PROXY: 'nginx' }, /TRUST_PROXY must be comma-separated addresses or networks such as/],
    [{ TRUST_PROXY: '10.0.0.0/0' }, /TRUST_PROXY must be/],
    [{ TRUST_PROXY: '10.0.0.0/33' }, /TRUST_PROXY must be comma-separated addresses or networks such as/],
    [{ CACHE_BYTES_MAX: '0' }, /CACHE_BYTES_MAX must be at least 1MiB/],
    [{ LATEST_BYTES_MAX: '0' }, /LATEST_BYTES_MAX must be at least 1KiB/],
    ...['kafka', 'kafka:0', 'kafka:65536', 'a:1,,b:2', 'a:1,', 'http://a:1', '[1.2.3.4]:9092', 'a b:1'].map(
      (KAFKA_BROKERS): [Record<string, string>, RegExp] => [{ KAFKA_BROKERS }, /KAFKA_BROKERS must be comma-separated/],
    ),
    [{ ...kafka, KAFKA_TLS: 'yes' }, /KAFKA_TLS must be true or the path/],
    [{ ...kafka, KAFKA_TOPIC_PREFIX: 'a/b' }, /KAFKA_TOPIC_PREFIX must be 1 to 100 letters/],
    [{ ...kafka, KAFKA_REPLICATION: '0' }, /KAFKA_REPLICATION must be from 1 to 9/],
    [{ ...kafka, KAFKA_RETENTION_HOURS: '0' }, /KAFKA_RETENTION_HOURS must be from 1/],
    [
      { ...kafka, KAFKA_SASL_MECHANISM: 'GSSAPI' },
      /KAFKA_SASL_MECHANISM must be PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER/,
    ],
    [{ ...kafka, KAFKA_SASL_USERNAME: 'a' }, /KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD must be set together/],
    [{ ...kafka, KAFKA_SASL_USERNAME: 'a', KAFKA_SASL_PASSWORD: 'b' }, /KAFKA_SASL_MECHANISM, .* must be set together/],
    [sasl, /KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD without KAFKA_BROKERS/],
    [{ KAFKA_REPLICATION: '3' }, /KAFKA_REPLICATION without KAFKA_BROKERS/],
    [{ LOG_LEVEL: 'loud' }, /LOG_LEVEL must be fatal, error/],
  ]
  for (const [environment, message] of wrong) {
    t.throws(() => readConfig(environment), message)
  }
  const all = { constructor: ConfigError, message: /PORT .*; DEVICE_RATE/ }
  t.throws(() => readConfig({ PORT: 'x', HOST: 'y', DEVICE_RATE: '0' }), all, 'all of them at once')
})

test('a role of its own needs Kafka, and databases that others have too', async t => {
  t.equal(readConfig({}).role, 'all')
  for (const role of ['api', 'forward'] as const) {
    t.throws(() => readConfig({}, role), /^--role (api|forward) needs KAFKA_BROKERS: /)
    t.throws(() => readConfig({ KAFKA_BROKERS: '' }, role), /needs KAFKA_BROKERS/)
    t.throws(() => readConfig({ KAFKA_BROKERS: 'kafka:9092' }, role), /needs QUESTDB_HTTP, QUESTDB_PG and DATABASE_URL/)
    t.equal(readConfig({ KAFKA_BROKERS: 'kafka:9092', ...databases }, role).role, role)
  }
})

test('the programs that are started get none of our settings', async t => {
  const { environment } = readConfig({ ...databases, ...kafka, ...sasl, JAVA_HOME: '/java', PORT: '1' })
  t.strictSame(environment, { JAVA_HOME: '/java' })
})
