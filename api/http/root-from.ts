/** Builds a relative path to the root of the service, valid below any prefix that a proxy adds. */

/** Bounds the answer to a long address. */
const depthMax = 16

/** `./` from `/docs`, `../` from `/docs/statistics`. */
export function rootFrom(url: string): string {
  const [path = ''] = url.split('?', 1)
  const depth = path.split('/', depthMax + 3).length - 2
  if (depth > depthMax) return '/'
  return depth <= 0 ? './' : '../'.repeat(depth)
}
