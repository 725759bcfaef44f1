package dev.idempotent.saga.method;

import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.StepRefusedException;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Steps whose transactions write JPA entities.
 */
class SagasWithJpaTests {

	@Test
	void leaveDraftsUnwrittenThatTheirStepsFlushManually() {
		SagaApplication.with(Entities.class, Letters.class)
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
			.run((context) -> {
				assertThatExceptionOfType(SagaCompensatedException.class)
					.isThrownBy(() -> context.getBean(Letters.class).write("1"));
				assertThat(context.getBean(EntityManager.class)
					.createQuery("select letter.id from LetterOfTheTest letter", String.class)
					.getResultList()).containsExactlyInAnyOrder("written", "undone");
			});
	}

	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = SagasWithJpaTests.class)
	static class Entities {

	}

	@Entity(name = "LetterOfTheTest")
	static class Letter {

		@Id
		private String id = "";

		Letter() {
		}

		Letter(String id) {
			this.id = id;
		}

	}

	static class Letters {

		private final SagaSteps saga;

		private final EntityManager entities;

		Letters(SagaSteps saga, EntityManager entities) {
			this.saga = saga;
			this.entities = entities;
		}

		@Saga(key = "#id", name = "Letters.write")
		public void write(String id) {
			this.saga.step("write").compensate(() -> persist("undone")).runInTransaction(() -> persist("written"));
			this.saga.step("draft").compensate(() -> draft("draft of the undo")).runInTransaction(() -> draft("draft"));
			this.saga.step("send").run(() -> {
				throw new StepRefusedException("The post office is closed");
			});
		}

		private void draft(String letter) {
			this.entities.unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
			persist(letter);
		}

		private void persist(String letter) {
			this.entities.persist(new Letter(letter));
		}

	}

}
