/**
 * Idempotency for the tools of agents: whose call it is, with which key, and how a
 * repetition or a refusal is told to a model.
 */
@NullMarked
package dev.idempotent.idempotency.tool;

import org.jspecify.annotations.NullMarked;
