/** Which addresses a channel may mail: its owner's own once it is confirmed, and others for administrators and the service. */

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
  const isOwn = account.email.toLowerCase() === address.toLowerCase()
  if (!account.isVerified && (isOwn || !account.isAdministrator)) return 'the address of the account is not confirmed'
  return isOwn || account.isAdministrator ? undefined : 'must be the address of the account'
}
