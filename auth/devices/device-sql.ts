/**
 * Reads and writes the registry in PostgreSQL. Each change is one statement, so the record, its sequence number and the
 * audit row are written together or not at all.
 */

import type pg from 'pg'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { assignments, rowsAsJson } from '../columns.ts'
import {
  type DeviceChange,
  type DeviceSetting,
  type DeviceSettings,
  deviceColumns,
  deviceSettings,
  type NamedDevice,
  type NewDevice,
  slugOf,
} from './device.ts'
import type { DeviceRow } from './device-record.ts'

type Database = Pick<pg.Pool, 'query'>

function columnOf(field: DeviceSetting): string {
  return deviceColumns[field].column ?? field
}

const settingColumns = deviceSettings.map(columnOf).join(', ')

/** Index of the first of them in a row. */
const settingsAt = 11
const columns = `number, name, symbol, date_part('epoch', created_at) * 1000, date_part('epoch', last_seen) * 1000,
  credential_current, credential_next, next_used, date_part('epoch', grace_ends_at) * 1000, auth_seq::float8,
  removed_at IS NOT NULL, ${settingColumns}`

type Values = [
  number: number,
  name: string,
  symbol: string,
  createdMs: number,
  lastSeenMs: number | null,
  current: Buffer,
  next: Buffer | null,
  nextUsed: boolean,
  graceEndsMs: number | null,
  authSeq: number,
  removed: boolean,
  ...settings: unknown[],
]

function rowOf(values: Values): DeviceRow {
  const [number, name, symbol, createdMs, lastSeenMs, current, next, nextUsed, graceEndsMs, authSeq, removed] = values
  const settings: Record<string, unknown> = {}
  for (const [at, field] of deviceSettings.entries()) settings[field] = values[settingsAt + at]
  return {
    ...(settings as DeviceSettings),
    number,
    name,
    symbol,
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
  const text = `
    WITH added AS (
      INSERT INTO devices (name, slug, credential_current, created_at, auth_seq, ${settingColumns})
      SELECT name, slug, credential_current, to_timestamp($2::float8 / 1000), nextval('auth_seq'), ${settingColumns}
      FROM jsonb_populate_recordset(NULL::devices, $1::jsonb) WITH ORDINALITY ORDER BY ordinality
      RETURNING *
    ), audited AS (
      INSERT INTO audit (actor, action, subject) SELECT $3, 'device.add', name FROM added
    )
    SELECT ${columns} FROM added ORDER BY number`
  const given = issues.map(({ device, digest }) => ({
    name: device.name,
    slug: slugOf(device.name),
    credential_current: `\\x${digest.toString('hex')}`,
    ...Object.fromEntries(deviceSettings.map(field => [columnOf(field), device[field]])),
  }))
  return ask(database, text, [rowsAsJson(given), nowMs, by])
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

export function updateSettings(database: Transaction, number: number, change: DeviceChange, by: string) {
  const row = {
    name: change.name,
    ...Object.fromEntries(deviceSettings.map(field => [columnOf(field), change[field]])),
  }
  const { set, values } = assignments(Object.keys(row), row, 5)
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
