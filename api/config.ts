/** All settings, read from the environment in this one place. docs/settings.md lists them. */

import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { z } from 'zod'
import { cacheDirectoryOf } from './cache-directory.ts'

const gibibyte = 1024 ** 3
const byteUnits: Record<string, number> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: gibibyte, TiB: 1024 ** 4 }

const bytes = z
  .string()
  .regex(/^\d+ ?(KiB|MiB|GiB|TiB)?$/, 'must be a size such as 512MiB or 20GiB')
  .transform(text => Number.parseInt(text, 10) * (byteUnits[text.replace(/^\d+ ?/, '')] ?? 1))

const range = z
  .string()
  .regex(/^-?\d+(\.\d+)?\.\.-?\d+(\.\d+)?$/, 'must be two numbers such as -90..85')
  .transform(text => {
    const [min = 0, max = 0] = text.split(/\.\.(?=-?\d)/).map(Number)
    return { min, max }
  })
  .refine(({ min, max }) => min < max, 'must begin with the smaller number')

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine(value => value >= min && value <= max, `must be from ${min} to ${max}`)

const databaseUrl = (protocol: RegExp, example: string) =>
  z.string().refine(text => isDatabaseUrl(text, protocol), `must be an address such as ${example}`)

/** One key for each variable; the description is that of docs/settings.md. */
export const Settings = z.object({
  HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  PORT: wholeNumber(0, 65_535).default(8080).describe('Port to listen on; 0 takes a free one.'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .transform(path => resolve(path))
    .describe('Where everything that must survive is kept.'),
  TIME_ZONE: z
    .string()
    .default(Intl.DateTimeFormat().resolvedOptions().timeZone)
    .refine(isTimeZone, 'must be an IANA zone such as Europe/Berlin')
    .describe('Zone of all local times in answers; default is that of the machine.'),
  PUBLIC_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address such as https://barograph.example' })
    .optional()
    .describe(
      'Address under which clients reach the service, and that of links in answers; default is the one of the request.',
    ),
  QUESTDB_HTTP: databaseUrl(/^https?:$/, 'http://user:password@host:9000')
    .optional()
    .describe('A QuestDB to use instead of an own one; credentials in the address.'),
  QUESTDB_PG: databaseUrl(/^postgres(ql)?:$/, 'postgresql://user:password@host:8812/qdb')
    .optional()
    .describe('The same QuestDB by its PostgreSQL port.'),
  QUESTDB_COMMIT_MODE: z
    .enum(['sync', 'nosync'], { error: 'must be sync or nosync' })
    .default('sync')
    .describe('For the own QuestDB: nosync is faster and does not survive a power cut.'),
  DATABASE_URL: databaseUrl(/^postgres(ql)?:$/, 'postgresql://user:password@host:5432/barograph')
    .optional()
    .describe('A PostgreSQL to use instead of an own one, for this service alone; not through a pooler.'),
  TLS_CERT: z
    .string()
    .optional()
    .describe('File with the certificate chain (PEM); with TLS_KEY the service speaks HTTPS.'),
  TLS_KEY: z.string().optional().describe('File with the private key (PEM).'),
  TRUST_PROXY: z
    .string()
    .optional()
    .transform(text => text?.split(',').map(part => part.trim()))
    .refine(parts => parts?.every(isNetwork) ?? true, 'must be addresses or networks such as 10.0.0.0/8, with commas')
    .describe('Proxies whose X-Forwarded-For, -Host and -Proto are believed: addresses or networks, with commas.'),
  PARENT_PID: wholeNumber(1, 4_194_304)
    .optional()
    .describe('Process id of the parent: when that has ended, the service stops. npm start sets it.'),
  LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      error: 'must be fatal, error, warn, info, debug or silent',
    })
    .default('info')
    .describe('How much is logged.'),
  LOG_FORMAT: z
    .enum(['auto', 'json', 'pretty'], { error: 'must be auto, json or pretty' })
    .default('auto')
    .describe('How it is logged: json, pretty, or auto, which is pretty on a terminal and json elsewhere.'),
  JOURNAL_MAX: bytes
    .refine(value => value >= 1024 ** 2, 'must be at least 1MiB')
    .default(20 * gibibyte)
    .describe('Size of the journal beyond which readings are refused with 503.'),
  JOURNAL_RESERVE: bytes.default(gibibyte / 4).describe('Free disk space that the journal leaves to others.'),
  JOURNAL_KEEP_HOURS: wholeNumber(0, 8760)
    .default(24)
    .describe('How long the journal is kept for a given QuestDB that does not run in sync mode.'),
  CONNECTIONS_MAX: wholeNumber(1, 1_000_000)
    .default(20_000)
    .describe(
      'Connections that are kept at a time; a further one is closed at once. Fewer where the limit of open files says so.',
    ),
  CONNECTIONS_PER_ADDRESS: wholeNumber(1, 1_000_000)
    .optional()
    .describe(
      'How many of them one address may hold, or one /64 of IPv6; default is a quarter. Those in TRUST_PROXY have no such limit.',
    ),
  DEVICE_RATE: wholeNumber(1, 1_000_000)
    .default(500)
    .describe('Readings a second that one device may send in the long run.'),
  DEVICE_BURST: wholeNumber(1, 10_000_000).default(20_000).describe('Readings that one device may send at once.'),
  FAILED_ATTEMPTS: wholeNumber(1, 1_000_000)
    .default(60)
    .describe('Wrong credentials a minute from one address, beyond which it gets 429 for further ones.'),
  TIMESTAMP_AHEAD_SECONDS: wholeNumber(0, 86_400).default(300).describe('How far ahead of our clock a reading may be.'),
  ROTATION_GRACE_HOURS: wholeNumber(0, 8760)
    .default(24)
    .describe('How long the old password of a device stays valid beside the new one.'),
  LATEST_BYTES_MAX: bytes
    .refine(value => value >= 1024, 'must be at least 1KiB')
    .default(32 * 1024 ** 2)
    .describe('Size of a latest/all answer beyond which it holds means instead of raw points.'),
  CACHE_BYTES_MAX: bytes
    .refine(value => value >= 1024 ** 2, 'must be at least 1MiB')
    .default(128 * 1024 ** 2)
    .describe('Memory for ready answers, and as much again for those that are being sent.'),
  QUERY_TIMEOUT_SECONDS: wholeNumber(1, 3600)
    .default(30)
    .describe('Time limit of an answer made in QuestDB, the wait for its turn included.'),
  RANGE_TEMPERATURE: range.default({ min: -90, max: 85 }).describe('Accepted temperatures, °C.'),
  RANGE_HUMIDITY: range.default({ min: 0, max: 103 }).describe('Accepted humidity, %; above 100 is stored as 100.'),
  RANGE_PRESSURE: range.default({ min: 300, max: 1100 }).describe('Accepted pressure, hPa.'),
  RANGE_BATTERY_VOLTAGE: range.default({ min: 0, max: 100 }).describe('Accepted battery voltage, V.'),
  RANGE_BATTERY_PERCENTAGE: range
    .default({ min: 0, max: 110 })
    .describe('Accepted battery charge, %; above 100 is stored as 100.'),
})
export type Config = z.infer<typeof Settings> & {
  cacheDirectory: string
  /** For the programs that are started here; our own settings, with the passwords in them, are no business of theirs. */
  environment: Record<string, string | undefined>
}

export class ConfigError extends Error {}

/** Reads the settings; throws a `ConfigError` that names each wrong one and says what it should be. */
export function readConfig(environment: Record<string, string | undefined>): Config {
  // An empty variable is one that is not set, as a compose file writes it.
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  )
  const parsed = Settings.safeParse(given)
  if (!parsed.success) {
    const faults = parsed.error.issues.map(issue => `${issue.path.join('.')} ${issue.message}`)
    throw new ConfigError(`Wrong settings: ${faults.join('; ')}.`)
  }
  const config = parsed.data
  const pairs = [
    ['TLS_CERT', 'TLS_KEY'],
    ['QUESTDB_HTTP', 'QUESTDB_PG'],
  ] as const
  for (const [one, other] of pairs) {
    if ((config[one] === undefined) !== (config[other] === undefined)) {
      throw new ConfigError(`Wrong settings: ${one} and ${other} go together; give both or none.`)
    }
  }
  const others = Object.entries(environment).filter(([name]) => !(name in Settings.shape))
  return {
    ...config,
    cacheDirectory: cacheDirectoryOf(environment),
    environment: Object.fromEntries(others),
  }
}

/** With names, passwords and a path that can be decoded. */
function isDatabaseUrl(text: string, protocol: RegExp): boolean {
  const url = URL.parse(text)
  if (url === null || !protocol.test(url.protocol)) return false
  try {
    return decodeURIComponent(`${url.username}${url.password}${url.pathname}`) !== undefined
  } catch {
    return false
  }
}

function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const prefixMax = isIP(address) === 4 ? 32 : 128
  return isIP(address) !== 0 && Number(prefix) >= 1 && Number(prefix) <= prefixMax
}

function isTimeZone(zone: string): boolean {
  try {
    return Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined
  } catch {
    return false
  }
}
