/**
 * Tests the Grafana dashboard and the Prometheus alert rules against a scrape of the
 * shop.
 */
@NullMarked
package dev.idempotent.sample.dashboard;

import org.jspecify.annotations.NullMarked;
