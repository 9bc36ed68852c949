/** Reads the settings from the environment, in this one place. */

import type { z } from 'zod'
import type { SignUpMode } from '../../auth/accounts/sign-up.ts'
import { parseQuestdbAddress } from '../../store/questdb/client/questdb-address.ts'
import { cacheDirectoryOf } from './cache-directory.ts'
import { Settings } from './settings.ts'
import type { Role } from './start-help.ts'

export type Config = z.infer<typeof Settings> & {
  SIGN_UP: SignUpMode
  role: Role
  cacheDirectory: string
  /** Child processes get this environment, without the service's own settings and their passwords. */
  environment: Record<string, string | undefined>
}

export class ConfigError extends Error {}

const setTogether = [
  ['TLS_CERT', 'TLS_KEY'],
  ['QUESTDB_HTTP', 'QUESTDB_PG'],
  ['KAFKA_TLS_CERT', 'KAFKA_TLS_KEY'],
  ['ARCHIVE_S3_KEY_ID', 'ARCHIVE_S3_SECRET'],
  ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'],
  ['DRIVE_CLIENT_ID', 'DRIVE_CLIENT_SECRET', 'DRIVE_AUTHORIZATION_URL', 'DRIVE_TOKEN_URL', 'DRIVE_OPENER_ORIGIN'],
] as const

/** Reads the settings; throws a `ConfigError` that names each wrong one and its allowed values. */
export function readConfig(environment: Record<string, string | undefined>, role: Role = 'all'): Config {
  // An empty variable counts as unset, as a compose file writes it.
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
  assertRole(role, given)
  const parsed = Settings.safeParse(given)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(issue => `${issue.path.join('.')} ${issue.message}`)
    throw new ConfigError(`Wrong settings: ${faults.join('; ')}.`)
  }
  const config = parsed.data
  for (const names of setTogether) {
    const isSet = names.map(name => config[name] !== undefined)
    if (isSet.includes(true) && isSet.includes(false)) {
      throw new ConfigError(`Wrong settings: ${listed(names)} must be set together.`)
    }
  }
  if (config.QUESTDB_PG_PORT !== undefined && config.QUESTDB_PG !== undefined) {
    throw new ConfigError(
      'Wrong settings: QUESTDB_PG_PORT is for the managed QuestDB, and QUESTDB_PG names another one.',
    )
  }
  assertReplicas(config)
  const { MQTT_BROKER_URL, MQTT_BROKERS } = config
  if (config.HOME_ASSISTANT_DISCOVERY === 'on' && (MQTT_BROKER_URL ?? MQTT_BROKERS) === undefined) {
    throw new ConfigError('Wrong settings: HOME_ASSISTANT_DISCOVERY needs MQTT_BROKER_URL or MQTT_BROKERS.')
  }
  if ((config.ARCHIVE_URL?.protocol === 's3:') !== (config.ARCHIVE_S3_KEY_ID !== undefined)) {
    throw new ConfigError('Wrong settings: ARCHIVE_URL of s3:// needs ARCHIVE_S3_KEY_ID, and no other has it.')
  }
  const ofKafka = Object.keys(given).filter(name => name.startsWith('KAFKA_') && name in Settings.shape)
  if (config.KAFKA_BROKERS === undefined && ofKafka.length > 0) {
    throw new ConfigError(`Wrong settings: ${ofKafka.join(', ')} without KAFKA_BROKERS, so no Kafka would be used.`)
  }
  assertKafka(config)
  const others = Object.entries(environment).filter(([name]) => !(name in Settings.shape))
  return {
    ...config,
    // With open sign-up, anybody could read private readings.
    SIGN_UP: config.SIGN_UP ?? (config.READS === 'private' ? 'invited' : 'open'),
    role,
    cacheDirectory: cacheDirectoryOf(environment),
    environment: Object.fromEntries(others),
  }
}

function assertKafka(config: z.infer<typeof Settings>): void {
  const { KAFKA_TLS, KAFKA_TLS_CERT, KAFKA_SASL_MECHANISM, KAFKA_SASL_TOKEN_URL, KAFKA_SASL_SCOPE } = config
  if (KAFKA_TLS_CERT !== undefined && KAFKA_TLS === undefined) {
    throw new ConfigError('Wrong settings: KAFKA_TLS_CERT without KAFKA_TLS, so no TLS would be used.')
  }
  const isOauth = KAFKA_SASL_MECHANISM === 'OAUTHBEARER'
  if (isOauth && KAFKA_SASL_TOKEN_URL === undefined) {
    throw new ConfigError('Wrong settings: KAFKA_SASL_MECHANISM is OAUTHBEARER, which needs KAFKA_SASL_TOKEN_URL.')
  }
  if (!isOauth && (KAFKA_SASL_TOKEN_URL ?? KAFKA_SASL_SCOPE) !== undefined) {
    throw new ConfigError('Wrong settings: KAFKA_SASL_TOKEN_URL and KAFKA_SASL_SCOPE are for OAUTHBEARER alone.')
  }
}

/** Separate processes share the journal and the databases. */
function assertRole(role: Role, given: Record<string, unknown>): void {
  if (role === 'all') return
  if (given['KAFKA_BROKERS'] === undefined) {
    throw new ConfigError(
      `--role ${role} needs KAFKA_BROKERS: only with Kafka as the journal may requests and forwarding be in processes of their own.`,
    )
  }
  if (given['QUESTDB_HTTP'] === undefined || given['DATABASE_URL'] === undefined) {
    throw new ConfigError(
      `--role ${role} needs QUESTDB_HTTP, QUESTDB_PG and DATABASE_URL: processes of their own share these databases.`,
    )
  }
}

function assertReplicas(config: z.infer<typeof Settings>): void {
  if (config.QUESTDB_REPLICAS !== undefined && [config.KAFKA_BROKERS, config.QUESTDB_HTTP].includes(undefined)) {
    throw new ConfigError('Wrong settings: QUESTDB_REPLICAS needs KAFKA_BROKERS, QUESTDB_HTTP and QUESTDB_PG.')
  }
  if ((config.QUESTDB_READ ?? 1) > 1 + (config.QUESTDB_REPLICAS?.length ?? 0)) {
    throw new ConfigError('Wrong settings: QUESTDB_READ names a replica that QUESTDB_REPLICAS does not.')
  }
  assertOtherQuestdbs(config)
}

/** Two replicas in one QuestDB would look like two copies. */
function assertOtherQuestdbs({ QUESTDB_HTTP, QUESTDB_PG, QUESTDB_REPLICAS }: z.infer<typeof Settings>): void {
  if (QUESTDB_REPLICAS === undefined) return
  const numbers = new Map<string, number>()
  for (const { number, http, pg } of [{ number: 1, http: QUESTDB_HTTP, pg: QUESTDB_PG }, ...QUESTDB_REPLICAS]) {
    for (const [protocol, { host, port }] of Object.entries(parseQuestdbAddress(http, pg))) {
      const place = `${protocol} ${host}:${port}`
      const same = numbers.get(place)
      if (same !== undefined) {
        throw new ConfigError(
          `Wrong settings: the replicas ${same} and ${number} have one address: QUESTDB_REPLICAS needs another QuestDB for each.`,
        )
      }
      numbers.set(place, number)
    }
  }
}

/** `A, B and C`. */
function listed(names: readonly string[]): string {
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}
