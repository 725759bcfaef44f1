package dev.idempotent.outbox.transaction;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurationPackage;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.orm.jpa.JpaTransactionManager;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The promises with a {@code JpaTransactionManager} on H2.
 */
class H2JpaCaughtDeadlockTests extends H2CaughtDeadlockTests {

	@Override
	List<String> database() {
		List<String> all = new ArrayList<>(super.database());
		all.set(0, all.get(0).replace("caught-deadlocks", "caught-jpa-deadlocks"));
		return all;
	}

	@Override
	Class<?> configuration() {
		return Entities.class;
	}

	@Test
	void usesAJpaTransactionManager() {
		assertThat(manager()).isInstanceOf(JpaTransactionManager.class);
	}

	@Configuration(proxyBeanMethods = false)
	@AutoConfigurationPackage
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	static class Entities {

	}

}
