/** The admin API's part of the published contract. */

import { z } from 'zod'
import { AccountDetails, AccountPage, AddedAccount } from '../../auth/accounts/account-details.ts'
import { InvitationPage, IssuedInvitation } from '../../auth/accounts/invitation-details.ts'
import { AuditPage } from '../../auth/audit-page.ts'
import {
  DeviceChangeRequest,
  DeviceDetails,
  DeviceRequest,
  IssuedPassword,
  Rotated,
} from '../../auth/devices/device.ts'
import { DevicePage } from '../../auth/devices/device-page.ts'
import {
  StationChangeRequest,
  StationDetails,
  StationPage,
  StationRequest,
} from '../../auth/stations/station-details.ts'
import { IssuedSecret, NewTenant, TenantChange, TenantDetails, TenantPage } from '../../auth/tenants/tenant.ts'
import { ChangedFiles, ImportedFiles } from '../../content/import/answer.ts'
import { nameActions } from '../../content/import/named-files.ts'
import { EraseReport, StationEraseReport } from '../../lifecycle/erasure/erase-records.ts'
import { exportFormats } from '../../query/export/export-queries.ts'
import type { Contract } from '../docs/contract.ts'
import { type PublishedRoute, publishRoutes } from '../docs/published-routes.ts'
import { devicesMax } from '../http/devices-parameter.ts'
import { timeTextForm } from '../http/time-forms.ts'
import { AccountChange, NewAccount } from './accounts.ts'
import { BackupRequest } from './backup.ts'
import { DeadLetterPage, Discarded, letterTables, Replayed } from './dead-letter-answers.ts'
import { afterMax, Discard, Replay } from './dead-letters.ts'
import { type AdminErrorCode, adminErrors } from './errors.ts'
import { ImportAnswer } from './import-answer.ts'
import { NewInvitation } from './invitations.ts'
import { AddedKey, AdminKeyPage } from './key-answers.ts'
import { keysOf, NewAdminKey } from './keys.ts'
import { pageNumber, rotateNow, searchText } from './query-fields.ts'
import { Confirmation, Confirmed } from './retention.ts'
import { Status } from './status-answer.ts'
import { HistoryQuery } from './status-history.ts'
import { StatusHistory } from './status-history-answer.ts'

const prefix = '/api/admin'

const Problem = z
  .object({
    type: z.string().meta({ description: 'Programs tell problems apart by it.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().optional(),
    errors: z
      .array(z.object({ path: z.string(), message: z.string() }))
      .optional()
      .meta({ description: 'What is wrong, at which place in the body or the address.' }),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' })

/** Of an import that has begun. */
const ImportProblem = Problem.extend({ ...ImportAnswer.partial().shape, lines_done: z.int().optional() }).meta({
  ...{ id: 'ImportProblem', description: 'RFC 9457. An import that has begun tells how far it came.' },
})

export function adminContract(): Contract {
  return publishRoutes({
    tag: {
      name: 'admin',
      description:
        'For administrators: a session, an API key with the scope admin, or the local admin token. Lists come in pages of 100.',
    },
    routes: [
      ...devices,
      ...accounts,
      ...invitations,
      ...keys,
      ...stations,
      ...tenants,
      ...letters,
      ...bulk,
      ...files,
      ...others,
    ],
    error: { schema: Problem, mediaType: 'application/problem+json' },
    refusals: {
      all: errorsOf('UNAUTHORIZED', 'FORBIDDEN', 'INTERNAL', 'DATABASE_AWAY'),
      paths: errorsOf('BAD_REQUEST', 'URI_TOO_LONG'),
    },
  })
}

type Route = Omit<PublishedRoute, 'credentials' | 'refusals' | 'path'> & {
  /** Below the prefix. */
  path: string
  refusals?: readonly AdminErrorCode[]
}

/** Of every route that has a body. */
const ofBodies: readonly AdminErrorCode[] = [
  ...([
    'JSON_INVALID',
    'BODY_INVALID',
    'CROSS_SITE',
    'TIMEOUT',
    'PAYLOAD_TOO_LARGE',
    'MEDIA_TYPE_UNSUPPORTED',
  ] as const),
]

function route({ path, refusals = [], ...rest }: Route): PublishedRoute {
  const asks = rest.parameters?.query === undefined ? [] : (['QUERY_INVALID'] as const)
  const codes = [...asks, ...(rest.body === undefined ? [] : ofBodies), ...refusals]
  return {
    ...rest,
    path: `${prefix}${path}`,
    credentials: ['session', 'apiKey', 'bearerKey', 'adminToken'],
    refusals: errorsOf(...codes),
  }
}

function errorsOf(...codes: readonly AdminErrorCode[]) {
  return codes.map(code => adminErrors[code])
}

const search = z.object({ search: searchText, page: pageNumber })
const page = z.object({ page: pageNumber })
const now = z.object({ now: rotateNow })
const name = z.object({ name: z.string().meta({ description: 'The name of a device' }) })
const sn = z.object({ sn: z.string().meta({ description: 'The serial number of a station' }) })
const slug = z.object({ slug: z.string() })
const id = z.object({ id: z.int().min(1) })

/** A list, a change and the like are told apart by their last argument. */
const answer = (status: number, description: string, json?: z.ZodType) => ({
  ...{ status, description },
  ...(json === undefined ? {} : { json }),
})
const named = <Schema extends z.ZodType>(schema: Schema, id: string) => schema.meta({ id })

const Device = named(DeviceDetails, 'AdminDevice')
const NewDevice = named(DeviceRequest, 'AdminNewDevice')
const Issued = named(IssuedPassword, 'IssuedPassword')
const erase = named(EraseReport, 'EraseReport')

const devices = [
  route({
    ...{ method: 'get', path: '/devices', name: 'admin_list_devices', summary: 'The registry of devices' },
    parameters: { query: search },
    success: answer(200, 'A page of it', named(DevicePage, 'AdminDevicePage')),
  }),
  route({
    ...{ method: 'post', path: '/devices', name: 'admin_add_devices', summary: 'Add a device, or up to 10,000' },
    description: 'Of several, all are added or none. Their passwords are shown this once.',
    body: { json: z.union([NewDevice, z.array(NewDevice).min(1).max(10_000)]) },
    success: answer(201, 'The names and passwords', z.union([Issued, z.array(Issued)])),
    refusals: ['NAME_TAKEN', 'NAME_TWICE', 'REGISTRY_FULL', 'TOO_MANY_DEVICES', 'OWNER_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'get', path: '/devices/{name}', name: 'admin_get_device', summary: 'One device' },
    parameters: { path: name },
    success: answer(200, 'The device', Device),
    refusals: ['DEVICE_UNKNOWN'],
  }),
  route({
    ...{ method: 'patch', path: '/devices/{name}', name: 'admin_change_device', summary: 'Change a device' },
    parameters: { path: name },
    body: { json: named(DeviceChangeRequest, 'AdminDeviceChange') },
    success: answer(200, 'The changed device', Device),
    refusals: ['DEVICE_UNKNOWN', 'NAME_TAKEN', 'OWNER_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'delete', path: '/devices/{name}', name: 'admin_remove_device', summary: 'Remove a device' },
    description: 'It logs no more at once. Its readings stay until they are erased.',
    parameters: { path: name },
    success: answer(204, 'It is removed'),
    refusals: ['DEVICE_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'post', path: '/devices/{name}/rotate', name: 'admin_rotate_password', summary: 'A new password' },
    parameters: { path: name, query: now },
    success: answer(200, 'The password, this once', named(Rotated, 'RotatedPassword')),
    refusals: ['DEVICE_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'get', path: '/devices/{name}/erase', name: 'admin_get_erase', summary: 'How an erase job goes' },
    parameters: { path: name },
    success: answer(200, 'Its report', erase),
    refusals: ['DEVICE_UNKNOWN'],
  }),
  route({
    ...{
      method: 'post',
      path: '/devices/{name}/erase',
      name: 'admin_erase',
      summary: 'Remove a device and its readings',
    },
    parameters: { path: name },
    success: answer(202, 'The job, which goes on', erase),
    refusals: ['DEVICE_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
]

const Account = named(AccountDetails, 'AdminAccount')

const accounts = [
  route({
    ...{ method: 'get', path: '/accounts', name: 'admin_list_accounts', summary: 'The accounts' },
    parameters: { query: search },
    success: answer(200, 'A page of them', named(AccountPage, 'AdminAccountPage')),
  }),
  route({
    ...{ method: 'post', path: '/accounts', name: 'admin_add_account', summary: 'Add an account' },
    description: 'Without a password, the answer has a link that sets one, good once and for an hour.',
    body: { json: named(NewAccount, 'AdminNewAccount') },
    success: answer(201, 'The account', named(AddedAccount, 'AdminAddedAccount')),
    refusals: ['EMAIL_TAKEN', 'OPERATOR_OTHER', 'OPERATOR_ONLY', 'TOO_BUSY', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'get', path: '/accounts/{id}', name: 'admin_get_account', summary: 'One account' },
    parameters: { path: id },
    success: answer(200, 'The account', Account),
    refusals: ['ACCOUNT_UNKNOWN'],
  }),
  route({
    ...{
      method: 'patch',
      path: '/accounts/{id}',
      name: 'admin_change_account',
      summary: 'Its role, whether it is a viewer, and on and off',
    },
    parameters: { path: id },
    body: { json: named(AccountChange, 'AdminAccountChange') },
    success: answer(200, 'The changed account', Account),
    refusals: [
      'ACCOUNT_UNKNOWN',
      'OPERATOR_STAYS',
      'OPERATOR_OTHER',
      'OPERATOR_ONLY',
      'OWN_ACCOUNT',
      'LAST_ADMINISTRATOR',
      'ROLE_IMPOSSIBLE',
      'OUTCOME_UNKNOWN',
    ],
  }),
]

const invitations = [
  route({
    ...{ method: 'get', path: '/invitations', name: 'admin_list_invitations', summary: 'The open invitations' },
    parameters: { query: page },
    success: answer(200, 'A page of them', named(InvitationPage, 'AdminInvitationPage')),
  }),
  route({
    ...{ method: 'post', path: '/invitations', name: 'admin_invite', summary: 'Invite a person to make an account' },
    description:
      'For this address, good once and for 7 days. A newer one for the same address replaces it. The link in the answer is shown this once.',
    body: { json: named(NewInvitation, 'AdminNewInvitation') },
    success: answer(201, 'The invitation with its link', named(IssuedInvitation, 'AdminIssuedInvitation')),
    refusals: [
      ...(['EMAIL_TAKEN', 'SIGN_UP_OFF', 'TOO_MANY_INVITATIONS', 'TOO_MANY_REQUESTS'] as const),
      ...(['TOO_BUSY', 'OUTCOME_UNKNOWN'] as const),
    ],
  }),
  route({
    ...{
      method: 'delete',
      path: '/invitations/{id}',
      name: 'admin_revoke_invitation',
      summary: 'Revoke an invitation',
    },
    parameters: { path: id },
    success: answer(204, 'It is revoked'),
    refusals: ['INVITATION_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
]

const keys = [
  route({
    ...{ method: 'get', path: '/keys', name: 'admin_list_keys', summary: 'The API keys of all' },
    parameters: {
      query: page.extend({ account: keysOf.meta({ description: 'An id or an address' }) }),
    },
    success: answer(200, 'A page of them', named(AdminKeyPage, 'AdminKeyPage')),
    refusals: ['ACCOUNT_UNKNOWN'],
  }),
  route({
    ...{ method: 'post', path: '/keys', name: 'admin_add_key', summary: 'Make an API key of an account' },
    description: 'With the local admin token only. Its owner is told by mail; the key is shown this once.',
    body: { json: named(NewAdminKey, 'AdminNewKey') },
    success: answer(201, 'The key', named(AddedKey, 'AdminAddedKey')),
    refusals: [
      ...(['OWNER_UNKNOWN', 'ACCOUNT_INACTIVE', 'SCOPE_NOT_ALLOWED', 'OWNER_UNVERIFIED'] as const),
      ...(['TOO_MANY_KEYS', 'TOO_MANY_REQUESTS', 'OUTCOME_UNKNOWN'] as const),
    ],
  }),
  route({
    ...{ method: 'delete', path: '/keys/{id}', name: 'admin_revoke_key', summary: 'Revoke an API key' },
    parameters: { path: id },
    success: answer(204, 'It is revoked'),
    refusals: ['KEY_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
]

const Station = named(StationDetails, 'AdminStation')

const stations = [
  route({
    ...{ method: 'get', path: '/stations', name: 'admin_list_stations', summary: 'The air-quality stations' },
    parameters: { query: search },
    success: answer(200, 'A page of them', named(StationPage, 'AdminStationPage')),
  }),
  route({
    ...{ method: 'post', path: '/stations', name: 'admin_add_station', summary: 'Add a station' },
    body: { json: named(StationRequest, 'AdminNewStation') },
    success: answer(201, 'The station', Station),
    refusals: ['SN_TAKEN', 'OWNER_UNKNOWN', 'REGISTRY_FULL', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'get', path: '/stations/{sn}', name: 'admin_get_station', summary: 'One station' },
    parameters: { path: sn },
    success: answer(200, 'The station', Station),
    refusals: ['STATION_UNKNOWN'],
  }),
  route({
    ...{ method: 'patch', path: '/stations/{sn}', name: 'admin_change_station', summary: 'Change a station' },
    parameters: { path: sn },
    body: { json: named(StationChangeRequest, 'AdminStationChange') },
    success: answer(200, 'The changed station', Station),
    refusals: ['STATION_UNKNOWN', 'OWNER_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{
      method: 'delete',
      path: '/stations/{sn}',
      name: 'admin_remove_station',
      summary: 'Remove a station and its points',
    },
    parameters: { path: sn },
    success: answer(204, 'It is removed; its points are being erased'),
    refusals: ['STATION_UNKNOWN', 'OPERATOR_ONLY', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'get', path: '/stations/{sn}/erase', name: 'admin_get_station_erase', summary: 'How that job goes' },
    parameters: { path: sn },
    success: answer(200, 'Its report', named(StationEraseReport, 'StationEraseReport')),
    refusals: ['STATION_UNKNOWN'],
  }),
]

const Tenant = named(TenantDetails, 'AdminTenant')
const Secret = named(IssuedSecret, 'IssuedSecret')

const tenants = [
  route({
    ...{ method: 'get', path: '/tenants', name: 'admin_list_tenants', summary: 'The partners' },
    parameters: { query: page },
    success: answer(200, 'A page of them', named(TenantPage, 'AdminTenantPage')),
  }),
  route({
    ...{ method: 'post', path: '/tenants', name: 'admin_add_tenant', summary: 'Add a partner' },
    body: { json: named(NewTenant, 'AdminNewTenant') },
    success: answer(201, 'The partner with its secret, this once', Secret),
    refusals: ['SLUG_TAKEN', 'TOO_MANY_TENANTS', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'get', path: '/tenants/{slug}', name: 'admin_get_tenant', summary: 'One partner' },
    parameters: { path: slug },
    success: answer(200, 'The partner', Tenant),
    refusals: ['TENANT_UNKNOWN'],
  }),
  route({
    ...{ method: 'patch', path: '/tenants/{slug}', name: 'admin_change_tenant', summary: 'Change a partner' },
    parameters: { path: slug },
    body: { json: named(TenantChange, 'AdminTenantChange') },
    success: answer(200, 'The changed partner', Tenant),
    refusals: ['TENANT_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
  route({
    ...{ method: 'post', path: '/tenants/{slug}/rotate', name: 'admin_rotate_secret', summary: 'A new secret' },
    parameters: { path: slug, query: now },
    success: answer(200, 'The partner with its secret, this once', Secret),
    refusals: ['TENANT_UNKNOWN', 'OUTCOME_UNKNOWN'],
  }),
]

const letters = [
  route({
    ...{ method: 'get', path: '/dead-letters', name: 'admin_list_dead_letters', summary: 'Rows that QuestDB refused' },
    parameters: {
      query: z.object({
        table: z.enum(letterTables).default('readings'),
        after: z.int().min(0).max(afterMax).optional().meta({ description: '`next` of the page before' }),
      }),
    },
    success: answer(200, 'A page of them', named(DeadLetterPage, 'DeadLetterPage')),
  }),
  route({
    ...{ method: 'post', path: '/dead-letters/replay', name: 'admin_replay', summary: 'Send them again' },
    body: { json: named(Replay, 'DeadLetterReplay'), isOptional: true },
    success: answer(200, 'How many', named(Replayed, 'DeadLettersReplayed')),
    refusals: ['REPLAY_JOURNAL_FULL', 'CLOSING', 'STORAGE_FAILED'],
  }),
  route({
    ...{ method: 'post', path: '/dead-letters/discard', name: 'admin_discard', summary: 'Give them up' },
    body: { json: named(Discard, 'DeadLetterDiscard') },
    success: answer(200, 'How many', named(Discarded, 'DeadLettersDiscarded')),
  }),
]

const ofImports = ['CONTENT_UNKNOWN', 'HEADER_INVALID', 'BODY_BROKEN', 'BUSY', 'JOURNAL_FULL', 'CLOSING'] as const
const time = z.string().optional().meta({ pattern: timeTextForm, description: 'ISO 8601' })

const bulk = [
  route({
    ...{ method: 'post', path: '/import', name: 'admin_import_readings', summary: 'Import readings' },
    body: { text: ['text/csv', 'application/x-ndjson'] },
    success: answer(200, 'What became of the lines', named(ImportAnswer, 'ImportAnswer')),
    refusals: [...ofImports, 'NO_READINGS', 'STORAGE_FAILED'],
    error: ImportProblem,
  }),
  route({
    ...{ method: 'post', path: '/import-points', name: 'admin_import_points', summary: 'Import data points' },
    body: { text: ['text/csv', 'application/x-ndjson'] },
    success: answer(200, 'What became of the lines', named(ImportAnswer, 'ImportAnswer')),
    refusals: [...ofImports, 'NO_POINTS', 'STORAGE_FAILED'],
    error: ImportProblem,
  }),
  route({
    ...{ method: 'get', path: '/export', name: 'admin_export_readings', summary: 'Export readings' },
    parameters: {
      query: z.object({
        ...{ devices: z.array(z.string().min(1)).min(1).max(devicesMax).optional(), from: time, to: time },
        format: z.enum(exportFormats).default('csv'),
      }),
    },
    success: {
      ...{ status: 200, description: 'The readings, as an import takes them' },
      text: ['text/csv', 'application/x-ndjson'],
      bytes: ['application/vnd.apache.parquet'],
    },
    refusals: ['DEVICE_UNKNOWN', 'TOO_BUSY', 'CLOSING', 'HTTP_VERSION'],
  }),
]

const lines = ['application/x-ndjson']

const files = [
  route({
    ...{ method: 'post', path: '/content-files/import', name: 'admin_import_files', summary: 'Import content files' },
    body: { text: lines },
    success: answer(200, 'What became of the lines', named(ImportedFiles, 'ImportedFiles')),
    refusals: ['BUSY', 'CLOSING'],
  }),
  ...nameActions.map(action =>
    route({
      ...{ method: 'post', path: `/content-files/${action}`, name: `admin_${action}_files` },
      summary: `${action === 'remove' ? 'Remove' : 'Unpublish'} content files`,
      body: { text: lines },
      success: answer(200, 'What became of the lines', named(ChangedFiles, 'ChangedFiles')),
      refusals: ['BUSY', 'CLOSING'],
    }),
  ),
  route({
    ...{ method: 'get', path: '/content-files/export', name: 'admin_export_files', summary: 'Export content files' },
    success: { status: 200, description: 'All files, as an import takes them', text: lines },
  }),
]

const others = [
  route({
    ...{ method: 'get', path: '/audit', name: 'admin_read_audit', summary: 'Who did what, newest first' },
    parameters: { query: page },
    success: answer(200, 'A page of it', named(AuditPage, 'AuditPage')),
  }),
  route({
    ...{ method: 'get', path: '/status', name: 'admin_read_status', summary: 'How the service is' },
    success: answer(200, 'Its state', named(Status, 'AdminStatus')),
  }),
  route({
    ...{ method: 'get', path: '/status/history', name: 'admin_read_status_history' },
    summary: 'Its own figures over time',
    parameters: { query: HistoryQuery },
    success: answer(200, 'At most 361 points', named(StatusHistory, 'AdminStatusHistory')),
    refusals: ['DATABASE_AWAY'],
  }),
  route({
    ...{ method: 'post', path: '/retention/confirm', name: 'admin_confirm_retention' },
    summary: 'Let waiting days of raw readings expire',
    description: 'Their raw readings are removed within two hours; their hours stay.',
    body: { json: named(Confirmation, 'RetentionConfirmation') },
    success: answer(200, 'The days before this expire', named(Confirmed, 'RetentionConfirmed')),
    refusals: ['NO_WAITING_DAYS'],
  }),
  route({
    ...{
      method: 'post',
      path: '/backup',
      name: 'admin_back_up',
      summary: 'Write a backup to a folder of this machine',
    },
    description: 'With the local admin token alone. The answer tells how far it is, in lines of JSON.',
    body: { json: named(BackupRequest, 'BackupRequest') },
    success: { status: 200, description: 'done or error is in the last line', text: lines },
    refusals: ['BACKUP_RUNNING'],
  }),
]
