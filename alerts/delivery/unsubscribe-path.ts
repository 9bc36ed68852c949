/** The page by which a recipient of mails leaves a channel. */
export const unsubscribePath = '/alerts/unsubscribe'
