'use strict';

wireClicks();
wireLost();
wireCommit();
wireRace();
wireShipment();
wireSaga();
wireAgent();
