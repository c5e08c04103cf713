import type { FieldType } from '../../../src/model/column.ts';
import type { Fixture } from '../fixtures.ts';
import { Draws } from './draws.ts';

/** The columns of ClickBench's table that hold text; all others hold numbers. */
const textColumns =
  'Title EventTime EventDate URL Referer FlashMinor2 UserAgentMinor MobilePhoneModel Params SearchPhrase ClientEventTime PageCharset OriginalURL HitColor LocalEventTime BrowserLanguage BrowserCountry SocialNetwork SocialAction SocialSourcePage ParamOrderID ParamCurrency OpenstatServiceName OpenstatCampaignID OpenstatAdID OpenstatSourceID UTMSource UTMMedium UTMCampaign UTMContent UTMTerm FromTag';

/** In their order. */
const columns =
  'WatchID JavaEnable Title GoodEvent EventTime EventDate CounterID ClientIP RegionID UserID CounterClass OS UserAgent URL Referer IsRefresh RefererCategoryID RefererRegionID URLCategoryID URLRegionID ResolutionWidth ResolutionHeight ResolutionDepth FlashMajor FlashMinor FlashMinor2 NetMajor NetMinor UserAgentMajor UserAgentMinor CookieEnable JavascriptEnable IsMobile MobilePhone MobilePhoneModel Params IPNetworkID TraficSourceID SearchEngineID SearchPhrase AdvEngineID IsArtifical WindowClientWidth WindowClientHeight ClientTimeZone ClientEventTime SilverlightVersion1 SilverlightVersion2 SilverlightVersion3 SilverlightVersion4 PageCharset CodeVersion IsLink IsDownload IsNotBounce FUniqID OriginalURL HID IsOldCounter IsEvent IsParameter DontCountHits WithHash HitColor LocalEventTime Age Sex Income Interests Robotness RemoteIP WindowName OpenerName HistoryLength BrowserLanguage BrowserCountry SocialNetwork SocialAction HTTPError SendTiming DNSTiming ConnectTiming ResponseStartTiming ResponseEndTiming FetchTiming SocialSourceNetworkID SocialSourcePage ParamPrice ParamOrderID ParamCurrency ParamCurrencyID OpenstatServiceName OpenstatCampaignID OpenstatAdID OpenstatSourceID UTMSource UTMMedium UTMCampaign UTMContent UTMTerm FromTag HasGCLID RefererHash URLHash CLID'.split(
    ' ',
  );

const isText = new Set(textColumns.split(' '));
const two = (number: number): string => String(number).padStart(2, '0');
const phrases = [
  '',
  '',
  '',
  'карта',
  'погода',
  'cheap flights',
  'sql',
  'clickhouse',
  'kittens',
  'news today',
];
const hosts = [
  'google.com',
  'www.google.ru',
  'example.org',
  'www.example.net',
  'news.site',
  'maps.google.com',
];
const titles = ['', 'Google поиск', 'News', 'Weather today', 'Search - Google', 'Shop'];

/** 2,000 hits; every value that the queries look for is met. */
function hitRows(): Fixture['rows'] {
  const draws = new Draws(43);
  return Array.from({ length: 2000 }, (_, index) => {
    const day = draws.int(1, 31);
    const time = `${two(draws.int(0, 23))}:${two(draws.int(0, 59))}:${two(index % 60)}`;
    const date = `2013-07-${two(day)}`;
    const url = (): string =>
      `http${draws.pick(['', 's'])}://${draws.pick(hosts)}/${draws.pick(['', 'a', 'b?q=1', 'c/d'])}`;
    const special: Readonly<Record<string, () => string | number>> = {
      WatchID: () => index,
      EventTime: () => `${date} ${time}`,
      EventDate: () => date,
      CounterID: () => draws.pick([62, 62, 62, 1, 2, 3]),
      UserID: () => draws.pick([4350909328996, ...Array.from({ length: 60 }, (__, user) => 1000 + user)]),
      ClientIP: () => draws.int(-40, 40),
      RegionID: () => draws.int(1, 15),
      Title: () => draws.pick(titles),
      URL: () => draws.pick([url(), url(), '']),
      Referer: () => draws.pick([url(), url(), '']),
      SearchPhrase: () => draws.pick(phrases),
      MobilePhoneModel: () => draws.pick(['', '', 'iPhone', 'N97', 'Galaxy']),
      ResolutionWidth: () => draws.pick([0, 1024, 1366, 1638, 1920]),
      AdvEngineID: () => draws.pick([0, 0, 0, 2, 13]),
      SearchEngineID: () => draws.pick([0, 2, 3]),
      TraficSourceID: () => draws.pick([-1, 0, 6]),
      RefererHash: () => draws.pick([35941200001725, 1]),
      URLHash: () => draws.pick([28687702703538, 2, 3]),
      IsRefresh: () => draws.pick([0, 0, 0, 1]),
      DontCountHits: () => draws.pick([0, 0, 0, 1]),
      IsLink: () => draws.pick([0, 1]),
      IsDownload: () => draws.pick([0, 0, 1]),
      WindowClientWidth: () => draws.pick([1000, 1200, 1500]),
      WindowClientHeight: () => draws.pick([700, 800]),
    };
    const other = (name: string) => (isText.has(name) ? draws.pick(['', 'x']) : draws.int(0, 3));
    return [`${date} ${time}`, ...columns.map((name) => special[name]?.() ?? other(name))];
  });
}

/** ClickBench's table under the names that PostgreSQL folds its own to. */
export const hits: Fixture = {
  name: 'hits',
  fields: Object.fromEntries(
    columns.map((name): [string, FieldType] => [name.toLowerCase(), isText.has(name) ? 'str' : 'num']),
  ),
  rows: hitRows(),
};
