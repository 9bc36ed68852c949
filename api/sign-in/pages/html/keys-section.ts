/** Renders the API keys of an account: the list and the form for a new key. */

import type { Scope } from '../../../../auth/keys/key.ts'
import type { KeyDetails } from '../../../../auth/keys/key-lists.ts'
import type { NewKey } from '../../../../auth/keys/key-rows.ts'
import { scopesOf } from '../../../../auth/policy.ts'
import { createTimes, type Times } from '../../../../web/theme/times.ts'
import { type Html, html } from '../../../http/html.ts'
import type { AccountView } from './account-model.ts'
import { alert, field, form, formState, section } from './fields.ts'
import { copyButton } from './layout.ts'

/** The key is shown only here. */
export function newKeyNotice({ name, text }: NewKey): Html {
  return html`<section class="notice" role="status" aria-labelledby="new-key-title">
<h2 id="new-key-title">Your new key: ${name}</h2>
<p>Copy it now. It is shown only once.</p>
<code class="secret" id="new-key">${text}</code>
${copyButton('new-key')}</section>
`
}

export function keysSection(view: AccountView): Html {
  const { account, keys, forms, nowMs } = view
  const times = createTimes(account.preferences.time_zone ?? 'UTC')
  const live = keys.filter(key => isLive(key, nowMs))
  const over = keys.filter(key => !isLive(key, nowMs))
  const list = [...live, ...over.slice(0, overShownMax)].map(key => keyItem(key, nowMs, times))
  const more = over.length - overShownMax
  const content = html`<p class="hint">Programs send a key as <code>Authorization: Bearer</code> or <code>X-API-Key</code>.${keys.length === 0 ? undefined : ` Times: ${times.zone}.`}</p>
${alert(formState(forms, 'revoke-key'))}${list.length === 0 ? undefined : html`<ul class="keys">\n${list}</ul>\n`}
${more > 0 ? html`<p class="hint">${more} more have expired or are revoked.</p>\n` : undefined}<h3>New key</h3>
${keyForm(view)}`
  return section('keys', 'API keys', content)
}

/** An account may create hundreds a day. */
const overShownMax = 20

function isLive({ revokedMs, expiresMs }: KeyDetails, nowMs: number): boolean {
  return revokedMs === null && (expiresMs === null || expiresMs > nowMs)
}

const scopeNames: Readonly<Record<Scope, string>> = {
  read: 'read',
  ingest: 'send readings',
  stations: 'manage stations',
  alerts: 'manage alerts',
  admin: 'administer the service',
}

function keyForm({ account, forms }: AccountView): Html {
  const state = formState(forms, 'create-key')
  const wasSent = 'name' in state.values
  const scopes = scopesOf(account.role).map(scope => {
    const isChosen = wasSent ? state.values[`scope-${scope}`] === 'yes' : scope === 'read'
    return check(`scope-${scope}`, scopeNames[scope], isChosen)
  })
  const fields = [
    field('create-key', state, {
      name: 'name',
      label: 'Name',
      autocomplete: 'off',
      hint: 'For example the program that uses it.',
    }),
    field('create-key', state, {
      name: 'expires_in_days',
      label: 'Expires after',
      unit: 'days',
      type: 'number',
      autocomplete: 'off',
      isOptional: true,
      range: { min: 1, max: 365 },
      hint: 'If empty, the key is valid until it is revoked.',
    }),
    field('create-key', state, {
      name: 'tags',
      label: 'Limited to devices with these tags',
      autocomplete: 'off',
      isOptional: true,
      hint: 'For example site:berlin. Separate several by commas. Such a key may only read and send readings.',
    }),
    html`<fieldset><legend>Permissions</legend>
${scopes}${check('create_devices', 'add the devices that it sends readings of', state.values['create_devices'] === 'yes')}</fieldset>
`,
  ]
  return form({ name: 'create-key', action: 'account', state, fields, submit: 'Generate New Token', isCard: false })
}

function check(name: string, label: string, isChosen: boolean): Html {
  const checked = isChosen ? html` checked` : undefined
  return html`<label class="check"><input type="checkbox" name="${name}" value="yes"${checked}> ${label}</label>
`
}

function keyItem(key: KeyDetails, nowMs: number, times: Times): Html {
  const time = (ms: number) => moment(ms, times)
  const { id, name, prefix, scopes, tags, createdMs, lastUsedMs, expiresMs, revokedMs } = key
  const canEnd = isLive(key, nowMs)
  const used = lastUsedMs === null ? 'never used' : html`last used ${time(lastUsedMs)}`
  const end =
    revokedMs !== null
      ? html`, revoked ${time(revokedMs)}`
      : expiresMs !== null
        ? html`, ${expiresMs > nowMs ? 'expires' : 'expired'} ${time(expiresMs)}`
        : undefined
  const limit = tags.length === 0 ? undefined : html` of devices with ${tags.join(', ')}`
  return html`<li${canEnd ? undefined : html` class="off"`}><span class="name">${name}</span>
<span class="hint"><code>${prefix}…</code>, may ${scopes.map(scope => scopeNames[scope]).join(', ') || 'nothing'}${limit}</span>
<span class="hint">created ${time(createdMs)}, ${used}${end}</span>
${canEnd ? revokeForm(id, name) : undefined}</li>
`
}

/** Two steps without a script, as a revocation is final. */
function revokeForm(id: number, name: string): Html {
  return html`<details><summary class="button">Revoke<span class="unseen"> ${name}</span></summary>
<form method="post" action="account"><input type="hidden" name="form" value="revoke-key">
<input type="hidden" name="key_id" value="${id}">
<button class="button danger">Yes, revoke<span class="unseen"> ${name}</span></button></form></details>`
}

function moment(ms: number, times: Times): Html {
  return html`<time datetime="${new Date(ms).toISOString()}" title="${times.exact(ms)}">${times.dateTime(ms)}</time>`
}
