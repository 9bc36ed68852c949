/** An audit entry as a sentence, with its changes as table rows. */

import type { AuditPage } from '../../auth/audit-page.ts'
import { capitalised } from './phrases.ts'

type Entry = AuditPage['entries'][number]

/** Verbs of actions; `$` is the subject. */
const deeds: Readonly<Record<string, string>> = {
  'account.activate': 'enabled $',
  'account.add': 'added $',
  'account.change': 'changed $',
  'account.deactivate': 'disabled $',
  'account.delete': 'deleted $',
  'account.link': 'linked $ to an external sign-in',
  'account.login': 'signed in',
  'account.register': 'signed up',
  'account.role': 'changed the role of $',
  'account.viewer': 'changed whether $ is a viewer',
  'alert-channel.add': 'added $',
  'alert-channel.change': 'changed $',
  'alert-channel.disable': 'disabled $',
  'alert-channel.remove': 'removed $',
  'alert-channel.unsubscribe': 'unsubscribed from $',
  'alert-delivery.replay': 'sent $ again',
  'alert-rule.add': 'added $',
  'alert-rule.change': 'changed $',
  'alert-rule.remove': 'removed $',
  'annotation.add': 'wrote $',
  'annotation.change': 'changed $',
  'annotation.remove': 'removed $',
  backup: 'made a backup in $',
  'content-files.import': 'imported $',
  'content-files.remove': 'removed $',
  'content-files.unpublish': 'unpublished $',
  'decoder.add': 'added $',
  'decoder.change': 'changed $',
  'decoder.remove': 'removed $',
  'dead-letters.discard': 'discarded dead letters of $',
  'dead-letters.replay': 'sent dead letters of $ again',
  'device.add': 'added the device $',
  'device.change': 'changed the device $',
  'device.erase': 'erased readings of the device $',
  'device.erase-metric': 'erased a metric of the device $',
  'device.remove': 'removed the device $',
  'device.rotate': 'set a new password for the device $',
  'device-grant.approve': 'approved $',
  'device-grant.consume': 'received the key of $',
  'device-grant.deny': 'denied $',
  'drive.link': 'linked a drive to $',
  'drive.link-failed': 'could not link a drive to $',
  'email.change-request': 'asked to change the e-mail address of $',
  'email.verify': 'confirmed the e-mail address of $',
  'archive.drop_restored': 'removed the restored rows of $',
  'archive.restore': 'restored $',
  import: 'imported $',
  'invitation.add': 'invited $',
  'invitation.revoke': 'revoked $',
  'key.create': 'created an API key of $',
  'key.revoke': 'revoked an API key of $',
  'metric.add': 'added $',
  'metric.change': 'changed $',
  'metric.remove': 'removed $',
  'password.change': 'changed the password',
  'password.reset': 'set a new password by a link',
  'readings.export': 'exported $',
  'readings.import': 'imported $',
  'retention.confirm': 'confirmed that days before $ end',
  'silence.add': 'added $',
  'silence.remove': 'removed $',
  'station.add': 'added $',
  'station.change': 'changed $',
  'station.erase': 'erased points of $ again',
  'station.remove': 'removed $',
  'tenant.add': 'added $',
  'tenant.change': 'changed $',
  'tenant.exchange': 'signed in a user of $',
  'tenant.rotate': 'set a new secret for $',
  'view.add': 'saved a view of $',
  'view.change': 'changed a view of $',
  'view.remove': 'removed a view of $',
  'view-link.create': 'made a link to a view of $',
  'view-link.revoke': 'revoked a link to a view of $',
}

/** `names` has accounts, devices, rules and channels by the words of the entry, such as `account 5`. */
export function auditSentence(entry: Pick<Entry, 'actor' | 'action' | 'subject'>, names: AuditPage['names']): string {
  const { action } = entry
  const subject = named(entry.subject, names)
  const actor = actorOf(entry.actor, names)
  const deed = Object.hasOwn(deeds, action) ? deeds[action] : undefined
  // An action without a verb here is shown by its name.
  const text = deed === undefined ? `: ${action} ${subject}` : ` ${deed.replace('$', () => subject)}`
  return `${actor}${text}.`
}

function actorOf(actor: string, names: AuditPage['names']): string {
  if (!Object.hasOwn(names, actor)) return capitalised(named(actor, names))
  return actor.startsWith('device ') ? `Device “${names[actor]}”` : `${names[actor]}`
}

/** `key 7 of Ada`, `alert rule “Too warm”` */
function named(text: string, names: AuditPage['names']): string {
  return text.replace(/\b(account|alert rule|alert channel) [0-9]+\b/, (words, kind: string) => {
    if (!Object.hasOwn(names, words)) return words
    return kind === 'account' ? `${names[words]}` : `${kind} “${names[words]}”`
  })
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
  if (value === null || value === '') return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ')
  if (isFields(value)) {
    return Object.entries(value)
      .map(([name, part]) => `${name.replaceAll('_', ' ')} ${valueText(part)}`)
      .join(', ')
  }
  return typeof value === 'object' ? 'none' : String(value)
}
