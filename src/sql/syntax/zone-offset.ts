/**
 * Abbreviations of time zones that PostgreSQL takes where it takes a zone, beside names of the IANA database.
 */

const hours = (count: number, names: string): ReadonlyArray<readonly [string, number]> =>
  names.split(' ').map((name) => [name, count * 3600]);

/** Abbreviations that mean the same at all times (src/timezone/tznames/Default), in seconds ahead of UTC. */
const abbreviations: ReadonlyMap<string, number> = new Map([
  ...hours(0, 'utc uct ut gmt z zulu wet'),
  ...hours(1, 'cet met mez bst wat'),
  ...hours(2, 'eet cest mesz sast ist'),
  ...hours(3, 'eest eat'),
  ...hours(7, 'ict'),
  ...hours(8, 'hkt awst'),
  ...hours(9, 'jst kst'),
  ...hours(9.5, 'acst'),
  ...hours(10, 'aest'),
  ...hours(11, 'aedt'),
  ...hours(12, 'nzst'),
  ...hours(13, 'nzdt'),
  ...hours(-2.5, 'ndt'),
  ...hours(-3, 'adt brt'),
  ...hours(-3.5, 'nst'),
  ...hours(-4, 'ast edt'),
  ...hours(-5, 'est cdt'),
  ...hours(-6, 'cst mdt'),
  ...hours(-7, 'mst pdt'),
  ...hours(-8, 'pst akdt'),
  ...hours(-9, 'akst'),
  ...hours(-10, 'hst'),
]);

/** Seconds ahead of UTC; undefined for what is no such abbreviation. */
export const abbreviationSeconds = (name: string): number | undefined =>
  abbreviations.get(name.toLowerCase());
