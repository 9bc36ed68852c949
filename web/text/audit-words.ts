/** An audit entry as a sentence, with its changes as table rows. */

import type { AuditPage } from '../../auth/audit-page.ts'
import { t } from '../words/words.ts'
import { capitalised } from './phrases.ts'

type Entry = AuditPage['entries'][number]

/** Verbs of actions; `$` is the subject. */
const deeds: Readonly<Record<string, string>> = {
  'account.activate': t('enabled $'),
  'account.add': t('added $'),
  'account.change': t('changed $'),
  'account.deactivate': t('disabled $'),
  'account.delete': t('deleted $'),
  'account.link': t('linked $ to an external sign-in'),
  'account.login': t('signed in'),
  'account.register': t('signed up'),
  'account.role': t('changed the role of $'),
  'account.viewer': t('changed whether $ is a viewer'),
  'alert-channel.add': t('added $'),
  'alert-channel.change': t('changed $'),
  'alert-channel.disable': t('disabled $'),
  'alert-channel.remove': t('removed $'),
  'alert-channel.unsubscribe': t('unsubscribed from $'),
  'alert-delivery.replay': t('sent $ again'),
  'alert-rule.add': t('added $'),
  'alert-rule.change': t('changed $'),
  'alert-rule.remove': t('removed $'),
  'annotation.add': t('wrote $'),
  'annotation.change': t('changed $'),
  'annotation.remove': t('removed $'),
  backup: t('made a backup in $'),
  'content-files.import': t('imported $'),
  'content-files.remove': t('removed $'),
  'content-files.unpublish': t('unpublished $'),
  'decoder.add': t('added $'),
  'decoder.change': t('changed $'),
  'decoder.remove': t('removed $'),
  'dead-letters.discard': t('discarded dead letters of $'),
  'dead-letters.replay': t('sent dead letters of $ again'),
  'device.add': t('added the device $'),
  'device.change': t('changed the device $'),
  'device.erase': t('erased readings of the device $'),
  'device.erase-metric': t('erased a metric of the device $'),
  'device.remove': t('removed the device $'),
  'device.rotate': t('set a new password for the device $'),
  'device-grant.approve': t('approved $'),
  'device-grant.consume': t('received the key of $'),
  'device-grant.deny': t('denied $'),
  'drive.link': t('linked a drive to $'),
  'drive.link-failed': t('could not link a drive to $'),
  'email.change-request': t('asked to change the e-mail address of $'),
  'email.verify': t('confirmed the e-mail address of $'),
  'archive.drop_restored': t('removed the restored rows of $'),
  'archive.restore': t('restored $'),
  import: t('imported $'),
  'invitation.add': t('invited $'),
  'invitation.revoke': t('revoked $'),
  'key.create': t('created an API key of $'),
  'key.revoke': t('revoked an API key of $'),
  'metric.add': t('added $'),
  'metric.change': t('changed $'),
  'metric.remove': t('removed $'),
  'password.change': t('changed the password'),
  'password.reset': t('set a new password by a link'),
  'readings.export': t('exported $'),
  'readings.import': t('imported $'),
  'retention.confirm': t('confirmed that days before $ end'),
  'silence.add': t('added $'),
  'silence.remove': t('removed $'),
  'station.add': t('added $'),
  'station.change': t('changed $'),
  'station.erase': t('erased points of $ again'),
  'station.remove': t('removed $'),
  'tenant.add': t('added $'),
  'tenant.change': t('changed $'),
  'tenant.exchange': t('signed in a user of $'),
  'tenant.rotate': t('set a new secret for $'),
  'view.add': t('saved a view of $'),
  'view.change': t('changed a view of $'),
  'view.remove': t('removed a view of $'),
  'view-link.create': t('made a link to a view of $'),
  'view-link.revoke': t('revoked a link to a view of $'),
}

/** `names` has accounts, devices, rules and channels by the words of the entry, such as `account 5`. */
export function auditSentence(entry: Pick<Entry, 'actor' | 'action' | 'subject'>, names: AuditPage['names']): string {
  const { action } = entry
  // Subjects of these are names of devices, which may begin like a kind.
  const subject = action.startsWith('device.') ? entry.subject : named(entry.subject, names)
  const actor = actorOf(entry.actor, names)
  const deed = Object.hasOwn(deeds, action) ? deeds[action] : undefined
  // An action without a verb here is shown by its name.
  const text = deed === undefined ? `: ${action} ${subject}` : ` ${deed.replace('$', () => subject)}`
  return `${actor}${text}.`
}

function actorOf(actor: string, names: AuditPage['names']): string {
  if (!Object.hasOwn(names, actor)) return capitalised(named(actor, names))
  return actor.startsWith('device ') ? t('Device “{name}”', { name: names[actor] as string }) : `${names[actor]}`
}

/** First words of subjects. A longer one stands before its beginning. */
const kinds: Readonly<Record<string, string>> = {
  account: t('account'),
  'alert channel': t('alert channel'),
  'alert notification': t('alert notification'),
  'alert rule': t('alert rule'),
  annotation: t('annotation'),
  'content files': t('content files'),
  decoder: t('decoder'),
  'device grant': t('device grant'),
  device: t('device'),
  invitation: t('invitation'),
  key: t('key'),
  'local admin token': t('local admin token'),
  metric: t('metric'),
  readings: t('readings'),
  'service secret': t('service secret'),
  silence: t('silence'),
  station: t('station'),
  tenant: t('tenant'),
  'unsubscribe link': t('unsubscribe link'),
  'view link': t('view link'),
}

function withKind(text: string): string {
  const found = Object.entries(kinds).find(([kind]) => text === kind || text.startsWith(`${kind} `))
  return found === undefined ? text : found[1] + text.slice(found[0].length)
}

/** `key 7 of Ada`, `alert rule “Too warm”` */
function named(text: string, names: AuditPage['names']): string {
  const at = text.startsWith('key ') ? text.indexOf(' of ') : -1
  if (at !== -1) {
    return t('{key} of {owner}', { key: withKind(text.slice(0, at)), owner: named(text.slice(at + 4), names) })
  }
  if (!Object.hasOwn(names, text)) return withKind(text)
  const [kind = ''] = /^(?:account|alert rule|alert channel)\b/.exec(text) ?? []
  return kind === '' || kind === 'account' ? `${names[text]}` : `${withKind(kind)} “${names[text]}”`
}

export interface AuditFact {
  name: string
  text: string
}

/** The depth of separate rows. Deeper values and longer lists are shown as stored. */
const depthMax = 3

/** A row for each field. Nested fields have both names: `quality limits, temperature`. */
export function auditFacts(details: Entry['details']): AuditFact[] {
  return factsOf(details, [])
}

function factsOf(fields: Record<string, unknown>, above: readonly string[]): AuditFact[] {
  return Object.entries(fields).flatMap(([field, value]) => {
    const names = [...above, field.replaceAll('_', ' ')]
    if (isFields(value) && names.length < depthMax) return factsOf(value, names)
    return [{ name: capitalised(names.join(', ')), text: valueText(value) }]
  })
}

function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}

function valueText(value: unknown): string {
  if (value === null || value === '') return t('none')
  if (typeof value === 'boolean') return value ? t('yes') : t('no')
  if (Array.isArray(value)) return value.length === 0 ? t('none') : value.map(valueText).join(', ')
  if (isFields(value)) {
    return Object.entries(value)
      .map(([name, part]) => `${name.replaceAll('_', ' ')} ${valueText(part)}`)
      .join(', ')
  }
  return typeof value === 'object' ? t('none') : String(value)
}
