/** Who may be mailed: people their own address, once it is confirmed; administrators and the service anybody. */

interface Recipient {
  email: string
  isVerified: boolean
  isAdministrator: boolean
  isActive: boolean
}

/** Undefined for no account. */
export type FindRecipient = (account: number) => Promise<Recipient | undefined>

/** Why no mail goes there; undefined where one does. `owner` is of the channel; null: the service. */
export async function mailFault(
  owner: number | null,
  address: string,
  recipientOf: FindRecipient,
): Promise<string | undefined> {
  if (owner === null) return undefined
  const account = await recipientOf(owner)
  if (account === undefined || !account.isActive) return 'the account is not active'
  if (account.isAdministrator) return undefined
  if (!account.isVerified) return 'the address of the account is not confirmed'
  return account.email.toLowerCase() === address.toLowerCase() ? undefined : 'must be the address of the account'
}
