/**
 * A scripted agent that calls the shop's tools as an MCP client, and repeats itself.
 */
@NullMarked
package dev.idempotent.sample.agent;

import org.jspecify.annotations.NullMarked;
