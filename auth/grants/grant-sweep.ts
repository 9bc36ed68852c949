/** What the sweep does with requests that have ended; the time stands at $1. */

export const grantSweep = [
  // Nobody has fetched this key, and nobody can any more.
  `WITH lapsed AS (
     UPDATE device_grants SET sealed_key = NULL
     WHERE status = 'approved' AND sealed_key IS NOT NULL AND expires_at <= $1 RETURNING key_id
   )
   UPDATE api_keys SET revoked_at = $1 FROM lapsed WHERE api_keys.id = lapsed.key_id AND revoked_at IS NULL`,
  // Until then a device learns that its request has expired.
  "DELETE FROM device_grants WHERE expires_at <= $1::timestamptz - interval '1 hour'",
]
