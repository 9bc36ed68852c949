/**
 * Reads and writes the registry in PostgreSQL. Each change is one statement, so the record, its sequence number and the
 * audit row are written together or not at all.
 */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { type DeviceChange, type NamedDevice, type NewDevice, type QualityLimits, slugOf } from './device.ts'
import type { BatteryType, Profile } from './device-profile.ts'
import type { DeviceRow } from './device-record.ts'

type Database = Pick<pg.Pool, 'query'>

const columns = `number, name, symbol, location_short, location_desc, log_switch, battery, altitude_m,
  expected_interval_s, owner, quality_limits, metrics, tags, date_part('epoch', created_at) * 1000,
  date_part('epoch', last_seen) * 1000, credential_current, credential_next, next_used,
  date_part('epoch', grace_ends_at) * 1000, auth_seq::float8, removed_at IS NOT NULL,
  profile, battery_type, battery_cells, latitude, longitude`

type Values = [
  number: number,
  name: string,
  symbol: string,
  locationShort: string,
  locationDesc: string,
  logSwitch: boolean,
  battery: boolean,
  altitudeM: number | null,
  intervalS: number | null,
  owner: number | null,
  qualityLimits: QualityLimits | null,
  metrics: string[] | null,
  tags: string[],
  createdMs: number,
  lastSeenMs: number | null,
  current: Buffer,
  next: Buffer | null,
  nextUsed: boolean,
  graceEndsMs: number | null,
  authSeq: number,
  removed: boolean,
  profile: Profile,
  batteryType: BatteryType | null,
  batteryCells: number | null,
  latitude: number | null,
  longitude: number | null,
]

function rowOf(values: Values): DeviceRow {
  const [number, name, symbol, location_short, location_desc, log_switch, battery, altitude_m, ...rest] = values
  const [
    expected_interval_seconds,
    owner,
    quality_limits,
    metrics,
    tags,
    createdMs,
    lastSeenMs,
    current,
    next,
    nextUsed,
    graceEndsMs,
    authSeq,
    removed,
    profile,
    battery_type,
    battery_cells,
    latitude,
    longitude,
  ] = rest
  return {
    number,
    name,
    symbol,
    location_short,
    location_desc,
    log_switch,
    battery,
    altitude_m,
    latitude,
    longitude,
    expected_interval_seconds,
    owner,
    quality_limits,
    metrics,
    tags,
    profile,
    battery_type,
    battery_cells,
    current,
    next,
    nextUsed,
    authSeq,
    removed,
    createdMs: Math.round(createdMs),
    lastSeenMs: wholeMs(lastSeenMs),
    graceEndsMs: wholeMs(graceEndsMs),
  }
}

/** Seconds as a binary fraction differ slightly from the millisecond. */
function wholeMs(timeMs: number | null): number | null {
  return timeMs === null ? null : Math.round(timeMs)
}

async function ask(database: Database, text: string, values: unknown[]): Promise<DeviceRow[]> {
  // Rows as arrays: a hundred thousand objects with repeated keys take twice the time and memory at the start.
  const { rows } = await database.query<Values>({ text, values, rowMode: 'array' })
  return rows.map(rowOf)
}

/** The highest committed sequence number. Numbers become visible in order, so later ones are higher. */
export async function highestSequence(database: Database): Promise<number> {
  const { rows } = await database.query<{ seq: number }>(
    'SELECT coalesce(max(auth_seq), 0)::float8 AS seq FROM devices',
  )
  return rows[0]?.seq ?? 0
}

export function readAfter(database: Database, number: number, rowsMax: number): Promise<DeviceRow[]> {
  const text = `SELECT ${columns} FROM devices WHERE removed_at IS NULL AND number > $1 ORDER BY number LIMIT $2`
  return ask(database, text, [number, rowsMax])
}

/** Records that have changed after a sequence number, including removed ones. */
export function readChangedSince(database: Database, sequence: number): Promise<DeviceRow[]> {
  return ask(database, `SELECT ${columns} FROM devices WHERE auth_seq > $1 ORDER BY auth_seq`, [sequence])
}

/** Includes removed records. */
export function readNumbered(database: Database, numbers: readonly number[]): Promise<DeviceRow[]> {
  return ask(database, `SELECT ${columns} FROM devices WHERE number = ANY($1::int[])`, [numbers])
}

/** Devices that changed after a sequence number, in the order of changes; after 0 without removed ones. */
export async function readNamesSince(database: Database, sequence: number, rowsMax: number): Promise<NamedDevice[]> {
  const text = `SELECT number, symbol, name, location_short, removed_at IS NOT NULL AS removed, auth_seq::float8 AS sequence
    FROM devices WHERE auth_seq > $1 AND ($1 > 0 OR removed_at IS NULL) ORDER BY auth_seq LIMIT $2`
  return (await database.query<NamedDevice>(text, [sequence, rowsMax])).rows
}

export function readNamed(database: Database, names: readonly string[]): Promise<DeviceRow[]> {
  const text = `SELECT ${columns} FROM devices WHERE removed_at IS NULL AND name = ANY($1::text[]) ORDER BY number`
  return ask(database, text, [names])
}

export interface Issue {
  device: NewDevice
  digest: Buffer
}

const rowsPerStatement = 1000

/** Several statements, so that the time limit of each is for a bounded number of rows. */
export async function insertDevices(
  database: Transaction,
  issues: readonly Issue[],
  by: string,
  nowMs: number,
): Promise<DeviceRow[]> {
  const rows: DeviceRow[] = []
  for (let from = 0; from < issues.length; from += rowsPerStatement) {
    rows.push(...(await insertSome(database, issues.slice(from, from + rowsPerStatement), by, nowMs)))
  }
  return rows
}

function insertSome(database: Transaction, issues: readonly Issue[], by: string, nowMs: number): Promise<DeviceRow[]> {
  const column = <Value>(pick: (device: NewDevice) => Value): Value[] => issues.map(({ device }) => pick(device))
  const text = `
    WITH added AS (
      INSERT INTO devices (name, slug, location_short, location_desc, log_switch, battery, altitude_m,
        expected_interval_s, owner, quality_limits, metrics, tags, credential_current, created_at, auth_seq,
        profile, battery_type, battery_cells, latitude, longitude)
      SELECT name, slug, location_short, location_desc, log_switch, battery, altitude_m, expected_interval_s, owner,
        quality_limits,
        CASE WHEN metrics IS NOT NULL THEN ARRAY(SELECT jsonb_array_elements_text(metrics)) END,
        ARRAY(SELECT jsonb_array_elements_text(tags)), digest, to_timestamp($11::float8 / 1000), nextval('auth_seq'),
        profile, battery_type, battery_cells, latitude, longitude
      FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bool[], $6::bool[], $7::float8[], $8::int[],
        $9::int[], $10::bytea[], $13::jsonb[], $14::jsonb[], $15::jsonb[], $16::text[], $17::text[], $18::int[],
        $19::float8[], $20::float8[])
        WITH ORDINALITY AS given (name, slug, location_short, location_desc, log_switch, battery, altitude_m,
        expected_interval_s, owner, digest, quality_limits, metrics, tags, profile, battery_type, battery_cells,
        latitude, longitude, place)
      ORDER BY place
      RETURNING *
    ), audited AS (
      INSERT INTO audit (actor, action, subject) SELECT $12, 'device.add', name FROM added
    )
    SELECT ${columns} FROM added ORDER BY number`
  return ask(database, text, [
    column(device => device.name),
    column(device => slugOf(device.name)),
    column(device => device.location_short),
    column(device => device.location_desc),
    column(device => device.log_switch),
    column(device => device.battery),
    column(device => device.altitude_m),
    column(device => device.expected_interval_seconds),
    column(device => device.owner),
    issues.map(issue => issue.digest),
    nowMs,
    by,
    column(device => (device.quality_limits === null ? null : JSON.stringify(device.quality_limits))),
    column(device => (device.metrics === null ? null : JSON.stringify(device.metrics))),
    column(device => JSON.stringify(device.tags)),
    column(device => device.profile),
    column(device => device.battery_type),
    column(device => device.battery_cells),
    column(device => device.latitude),
    column(device => device.longitude),
  ])
}

interface Update {
  number: number
  by: string
  action: string
  details: Record<string, unknown>
}

/** `set` has constant assignments. Their values start at $5. Returns no row for a removed device. */
async function update(
  database: Transaction,
  { number, by, action, details }: Update,
  set: string[],
  values: unknown[],
) {
  const text = `
    WITH changed AS (
      UPDATE devices SET ${set.join(', ')}, auth_seq = nextval('auth_seq')
      WHERE number = $1 AND removed_at IS NULL
      RETURNING *
    ), audited AS (
      INSERT INTO audit (actor, action, subject, details) SELECT $2, $3, name, $4::jsonb FROM changed
    )
    SELECT ${columns} FROM changed`
  const rows = await ask(database, text, [number, by, action, JSON.stringify(details), ...values])
  return rows[0]
}

const changeable = [
  'name',
  'location_short',
  'location_desc',
  'log_switch',
  'battery',
  'altitude_m',
  'latitude',
  'longitude',
  'expected_interval_seconds',
  'owner',
  'quality_limits',
  'metrics',
  'tags',
  'profile',
  'battery_type',
  'battery_cells',
] satisfies (keyof DeviceChange)[]

function columnOf(field: (typeof changeable)[number]): string {
  return field === 'expected_interval_seconds' ? 'expected_interval_s' : field
}

export function updateSettings(database: Transaction, number: number, change: DeviceChange, by: string) {
  const fields = changeable.filter(field => change[field] !== undefined)
  const set = fields.map((field, at) => `${columnOf(field)} = $${at + 5}`)
  const values = fields.map(field => change[field])
  return update(database, { number, by, action: 'device.change', details: change }, set, values)
}

/** Replaces all passwords by a new one. */
export function replaceCredential(database: Transaction, number: number, digest: Buffer, by: string) {
  const what = { number, by, action: 'device.rotate', details: { old_password_ended: true } }
  const set = ['credential_current = $5', 'credential_next = NULL', 'grace_ends_at = NULL', 'next_used = false']
  return update(database, what, set, [digest])
}

export interface NewCredential {
  digest: Buffer
  nowMs: number
  graceEndsMs: number
  /** Newer password that the device has used according to this process, saved or not. */
  usedNext: Buffer | null
}

/**
 * Adds a password beside one that stays valid for the grace time. Within an earlier grace time, two passwords could
 * stay: the newer one if the device has used it, otherwise the older one, because the newer one did not reach the
 * device. Both are read from the locked row, so a password revoked meanwhile does not return.
 */
export function addCredential(database: Transaction, number: number, credential: NewCredential, by: string) {
  const { digest, nowMs, graceEndsMs, usedNext } = credential
  const what = { number, by, action: 'device.rotate', details: { old_password_ended: false } }
  const set = [
    `credential_current = CASE
       WHEN credential_next IS NULL THEN credential_current
       WHEN next_used OR credential_next = $8::bytea OR grace_ends_at <= to_timestamp($6::float8 / 1000) THEN credential_next
       ELSE credential_current END`,
    'credential_next = $5',
    'grace_ends_at = to_timestamp($7::float8 / 1000)',
    'next_used = false',
  ]
  return update(database, what, set, [digest, nowMs, graceEndsMs, usedNext])
}

export function markRemoved(database: Transaction, number: number, by: string, nowMs: number) {
  const set = ['removed_at = to_timestamp($5::float8 / 1000)', "tags = '{}'", 'latitude = NULL', 'longitude = NULL']
  return update(database, { number, by, action: 'device.remove', details: {} }, set, [nowMs])
}

/** The operator receives an account's records, including removed devices. */
export function handOver(database: Transaction, owner: number, by: string): Promise<DeviceRow[]> {
  const text = `
    WITH changed AS (
      UPDATE devices SET owner = (SELECT id FROM accounts WHERE role = 'operator'), auth_seq = nextval('auth_seq')
      WHERE owner = $1
      RETURNING *
    ), audited AS (
      INSERT INTO audit (actor, action, subject, details)
      SELECT $2, 'device.change', name, jsonb_build_object('owner', owner) FROM changed
    )
    SELECT ${columns} FROM changed`
  return ask(database, text, [owner, by])
}

/** A fixed order of locks, so that nodes that save the same devices do not deadlock. */
const lockedInOrder =
  'WITH locked AS MATERIALIZED (SELECT number FROM devices WHERE number = ANY($1::int[]) ORDER BY number FOR NO KEY UPDATE)'

/** Saves last-seen times. They are not a change of the record, so they have no sequence number and no audit row. */
export async function saveLastSeen(database: Database, numbers: number[], timesMs: number[]): Promise<void> {
  const text = `${lockedInOrder} UPDATE devices SET last_seen = greatest(last_seen, to_timestamp(seen.ms / 1000))
    FROM unnest($1::int[], $2::float8[]) AS seen (number, ms) JOIN locked USING (number)
    WHERE devices.number = locked.number`
  await database.query(text, [numbers, timesMs])
}

export async function readLastSeen(
  database: Database,
  numbers: readonly number[],
): Promise<{ number: number; lastSeenMs: number }[]> {
  const text = `SELECT number, round(date_part('epoch', last_seen) * 1000) AS "lastSeenMs" FROM devices
    WHERE number = ANY($1::int[]) AND last_seen IS NOT NULL`
  return (await database.query<{ number: number; lastSeenMs: number }>(text, [numbers])).rows
}

/** Saves used passwords that are still the newer ones of two. Not a change of the record either. */
export async function saveNextUsed(database: Database, numbers: number[], digests: Buffer[]): Promise<void> {
  const text = `${lockedInOrder} UPDATE devices SET next_used = true
    FROM unnest($1::int[], $2::bytea[]) AS used (number, digest) JOIN locked USING (number)
    WHERE devices.number = locked.number AND credential_next = used.digest`
  await database.query(text, [numbers, digests])
}

export interface Namesake {
  number: number
  symbol: string
}

/** Records that have a name, or had it when they were removed, oldest first. */
export async function readNamesakes(database: Database, name: string): Promise<Namesake[]> {
  const text = 'SELECT number, symbol FROM devices WHERE name = $1 ORDER BY number'
  const { rows } = await database.query<Namesake>(text, [name])
  return rows
}
