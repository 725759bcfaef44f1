package dev.idempotent.outbox.modulith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Events of Spring Modulith in an outbox on H2.
 */
class H2ModulithTests extends ModulithRules {

	@Override
	ApplicationContextRunner withDatabase(ApplicationContextRunner application) {
		return application;
	}

}
