/** Types of the used part of `topojson-client` and of files beside the scripts. */

declare module '*.json?url' {
  const address: string
  // biome-ignore lint/style/noDefaultExport: it is what the build gives
  export default address
}

declare module 'topojson-client' {
  type Line = readonly (readonly [longitude: number, latitude: number])[]
  interface Geometries {
    readonly type: string
  }
  export interface Topology {
    readonly objects: { readonly land: Geometries; readonly countries: Geometries }
  }
  export function feature(
    topology: Topology,
    land: Geometries,
  ): { features: { geometry: { coordinates: readonly (readonly Line[])[] } }[] }
  export function mesh(
    topology: Topology,
    countries: Geometries,
    filter: (a: object, b: object) => boolean,
  ): { coordinates: readonly Line[] }
}
