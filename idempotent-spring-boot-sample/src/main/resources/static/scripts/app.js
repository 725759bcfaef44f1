'use strict';

showLegend();
wireOrder();
wireRedis();
wireComparison();
wirePaymentAndFeedback();
wireRace();
wireSaga();
startOrder();
refresh();
followMeters();
window.addEventListener('resize', showKeys);
