'use strict';

showLegend();
wireOrder();
wireRedis();
wireComparison();
wirePaymentAndFeedback();
startOrder();
refresh();
followMeters();
window.addEventListener('resize', showKeys);
