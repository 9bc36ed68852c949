/** Renders the API keys of an account: the list and the form for a new key. */

import type { Words } from '../../../../analytics/findings/words.ts'
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
export function newKeyNotice({ name, text }: NewKey, words: Words): Html {
  const { t } = words
  return html`<section class="notice" role="status" aria-labelledby="new-key-title">
<h2 id="new-key-title">${t('Your new key: {name}', { name })}</h2>
<p>${t('Copy it now. It is shown only once.')}</p>
<code class="secret" id="new-key">${text}</code>
${copyButton('new-key', words)}</section>
`
}

export function keysSection(view: AccountView): Html {
  const { account, keys, forms, nowMs, words } = view
  const { t, tn, tp } = words
  const times = createTimes(account.preferences.time_zone ?? 'UTC', words.language)
  const live = keys.filter(key => isLive(key, nowMs))
  const over = keys.filter(key => !isLive(key, nowMs))
  const list = [...live, ...over.slice(0, overShownMax)].map(key => keyItem(key, nowMs, { times, words }))
  const more = over.length - overShownMax
  const sentAs = tp('Programs send a key as {bearer} or {header}.', {
    bearer: html`<code>Authorization: Bearer</code>`,
    header: html`<code>X-API-Key</code>`,
  })
  const content = html`<p class="hint">${sentAs}${keys.length === 0 ? undefined : ` ${t('Times: {zone}.', { zone: times.zone })}`}</p>
${alert(formState(forms, 'revoke-key'))}${list.length === 0 ? undefined : html`<ul class="keys">\n${list}</ul>\n`}
${more > 0 ? html`<p class="hint">${tn(more, '{count} more have expired or are revoked.', '{count} more have expired or are revoked.')}</p>\n` : undefined}<h3>${t('New key')}</h3>
${keyForm(view)}`
  return section('keys', t('API keys'), content)
}

/** An account may create hundreds a day. */
const overShownMax = 20

function isLive({ revokedMs, expiresMs }: KeyDetails, nowMs: number): boolean {
  return revokedMs === null && (expiresMs === null || expiresMs > nowMs)
}

const scopeNamesIn = ({ t, tc }: Words): Readonly<Record<Scope, string>> => ({
  read: tc('permission', 'read'),
  ingest: t('send readings'),
  stations: t('manage stations'),
  alerts: t('manage alerts'),
  admin: t('administer the service'),
})

function keyForm({ account, forms, words }: AccountView): Html {
  const { t } = words
  const scopeNames = scopeNamesIn(words)
  const state = formState(forms, 'create-key')
  const wasSent = 'name' in state.values
  const scopes = scopesOf(account.role).map(scope => {
    const isChosen = wasSent ? state.values[`scope-${scope}`] === 'yes' : scope === 'read'
    return check(`scope-${scope}`, scopeNames[scope], isChosen)
  })
  const fields = [
    field(words, 'create-key', state, {
      name: 'name',
      label: t('Name'),
      autocomplete: 'off',
      hint: t('For example the program that uses it.'),
    }),
    field(words, 'create-key', state, {
      name: 'expires_in_days',
      label: t('Expires after'),
      unit: t('days'),
      type: 'number',
      autocomplete: 'off',
      isOptional: true,
      range: { min: 1, max: 365 },
      hint: t('If empty, the key is valid until it is revoked.'),
    }),
    field(words, 'create-key', state, {
      name: 'tags',
      label: t('Limited to devices with these tags'),
      autocomplete: 'off',
      isOptional: true,
      hint: t('For example site:berlin. Separate several by commas. Such a key may only read and send readings.'),
    }),
    html`<fieldset><legend>${t('Permissions')}</legend>
${scopes}${check('create_devices', t('add the devices that it sends readings of'), state.values['create_devices'] === 'yes')}</fieldset>
`,
  ]
  return form({ name: 'create-key', action: 'account', state, fields, submit: t('Generate New Token'), isCard: false })
}

function check(name: string, label: string, isChosen: boolean): Html {
  const checked = isChosen ? html` checked` : undefined
  return html`<label class="check"><input type="checkbox" name="${name}" value="yes"${checked}> ${label}</label>
`
}

function keyItem(key: KeyDetails, nowMs: number, { times, words }: { times: Times; words: Words }): Html {
  const { t, tp } = words
  const scopeNames = scopeNamesIn(words)
  const time = (ms: number) => moment(ms, times)
  const { id, name, prefix, scopes, tags, createdMs, lastUsedMs, expiresMs, revokedMs } = key
  const canEnd = isLive(key, nowMs)
  const created = tp('created {moment}', { moment: time(createdMs) })
  const used = lastUsedMs === null ? t('never used') : tp('last used {moment}', { moment: time(lastUsedMs) })
  const end =
    revokedMs !== null
      ? tp(', revoked {moment}', { moment: time(revokedMs) })
      : expiresMs === null
        ? undefined
        : expiresMs > nowMs
          ? tp(', expires {moment}', { moment: time(expiresMs) })
          : tp(', expired {moment}', { moment: time(expiresMs) })
  const allowed = scopes.map(scope => scopeNames[scope]).join(', ') || t('nothing')
  const may =
    tags.length === 0
      ? t('may {list}', { list: allowed })
      : t('may {list} of devices with {tags}', { list: allowed, tags: tags.join(', ') })
  return html`<li${canEnd ? undefined : html` class="off"`}><span class="name">${name}</span>
<span class="hint"><code>${prefix}…</code>, ${may}</span>
<span class="hint">${created}, ${used}${end}</span>
${canEnd ? revokeForm(id, name, words) : undefined}</li>
`
}

/** Two steps without a script, as a revocation is final. */
function revokeForm(id: number, name: string, { t }: Words): Html {
  return html`<details><summary class="button">${t('Revoke')}<span class="unseen"> ${name}</span></summary>
<form method="post" action="account"><input type="hidden" name="form" value="revoke-key">
<input type="hidden" name="key_id" value="${id}">
<button class="button danger">${t('Yes, revoke')}<span class="unseen"> ${name}</span></button></form></details>`
}

function moment(ms: number, times: Times): Html {
  return html`<time datetime="${new Date(ms).toISOString()}" title="${times.exact(ms)}">${times.dateTime(ms)}</time>`
}
