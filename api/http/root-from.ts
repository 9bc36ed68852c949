/** The root of the service as seen from an address: relative, so that it is right below any prefix that a proxy adds. */

/** A link that goes up through more folders would make a long answer of a long address. */
const depthMax = 16

/** `./` from `/docs`, `../` from `/docs/statistics`. */
export function rootFrom(url: string): string {
  const [path = ''] = url.split('?', 1)
  const depth = path.split('/', depthMax + 3).length - 2
  if (depth > depthMax) return '/'
  return depth <= 0 ? './' : '../'.repeat(depth)
}
