/** Serves the account page: API keys, profile, password, deletion. */

import type { AccountErrorCode } from '../../../auth/outcome.ts'
import type { SignedIn } from '../../../auth/sessions/session-claims.ts'
import type { AccountService } from '../../accounts/account-service.ts'
import { errors } from '../../accounts/kit/errors.ts'
import { accountSubmits, type Submitted } from './account-submits.ts'
import { formAlert, formFault, refusalSentence } from './form.ts'
import type { AccountView } from './html/account-model.ts'
import { accountView } from './html/account-view.ts'
import { mailSentence } from './html/mail-sentence.ts'
import { accountPage, type FormFields, type Page, type PageAnswer, type PageRequest, type ShownPage } from './page.ts'

type Visit = PageRequest<SignedIn>

export function accountPageOf(service: AccountService): Page {
  const { accounts, keys, settings } = service
  const submits = accountSubmits(service)

  /** The whole page, with the result of one of its forms. */
  async function view({ visitor: { account } }: Visit, more: Partial<AccountView>, status = 200): Promise<ShownPage> {
    const { sendsMail, reads } = settings
    const known = { account, keys: await keys.list(account), nowMs: accounts.nowMs(), sendsMail, reads }
    const shown = { ...known, forms: {}, notice: undefined }
    const main = accountView({ ...shown, ...more })
    return { kind: 'page', status, title: 'Your account', main, copies: more.newKey !== undefined }
  }

  function answer(
    visit: Visit,
    name: string,
    fields: FormFields,
    submitted: Submitted,
  ): PageAnswer | Promise<PageAnswer> {
    switch (submitted.kind) {
      case 'redirect':
        return submitted
      case 'key':
        return view(visit, { newKey: submitted.newKey })
      case 'invalid':
        return view(visit, { forms: { [name]: submitted.state } }, 422)
      case 'refused':
        return refuse(visit, name, fields, submitted)
    }
  }

  /** Shows the error beside its field, if it has one. */
  async function refuse(
    visit: Visit,
    name: string,
    fields: FormFields,
    { refusal }: Extract<Submitted, { kind: 'refused' }>,
  ): Promise<PageAnswer> {
    const { code, retryAfterSeconds } = refusal
    const text = refusalSentence(refusal)
    const field = fieldsOfRefusals[code]
    const state = field === undefined ? formAlert(fields, text) : formFault(fields, field, text)
    return { ...(await view(visit, { forms: { [name]: state } }, errors[code].status)), retryAfterSeconds }
  }

  return accountPage({
    path: '/account',
    show: visit => view(visit, { notice: noticeOf(visit.argument('done') ?? '', settings) }),
    async submit(visit, fields) {
      const { form: name = '' } = fields
      const submit = Object.hasOwn(submits, name) ? submits[name] : undefined
      if (submit === undefined) return await view(visit, {})
      return await answer(visit, name, fields, await submit(visit, fields))
    },
  })
}

const fieldsOfRefusals: Partial<Record<AccountErrorCode, string>> = {
  PASSWORD_WRONG: 'current_password',
  EMAIL_TAKEN: 'email',
}

/** Shown once after the action. */
const notices: ReadonlyMap<string, string> = new Map([
  ['signed-up', 'Your account is created. Open the link in the mail that was sent to you to confirm your address.'],
  ['profile', 'Your profile is changed.'],
  ['preferences', 'Your units and time zone are saved.'],
  ['revoked', 'The key is revoked.'],
  ['password', 'Your password is changed. All your other sessions have ended.'],
])

function noticeOf(done: string, settings: AccountService['settings']): string | undefined {
  const text = 'A mail with a link was sent to the new address. The address changes when you open the link.'
  return done === 'email' ? mailSentence(text, settings) : notices.get(done)
}
