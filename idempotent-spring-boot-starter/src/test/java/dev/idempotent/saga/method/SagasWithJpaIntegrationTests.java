package dev.idempotent.saga.method;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaCompensatedException;
import dev.idempotent.saga.SagaStatus;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.saga.SignalResult;
import dev.idempotent.saga.StepRefusedException;
import dev.idempotent.testing.RealPostgres;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.awaitility.Awaitility;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Sagas whose steps write with JPA, in transactions.
 */
@ExtendWith(OutputCaptureExtension.class)
class SagasWithJpaIntegrationTests {

	@RegisterExtension
	static final RealPostgres postgres = RealPostgres.shared();

	@Test
	void rollARefusedStepBackOnce(CapturedOutput output) {
		SagaApplication.with(Configured.class, Pages.class)
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues(postgres.properties().toArray(String[]::new))
			.withPropertyValues("idempotent.saga.initialize-schema=always", "idempotent.jdbc.initialize-schema=always")
			.run((context) -> {
				JdbcTemplate sql = new JdbcTemplate(postgres.connect());
				sql.execute("drop table if exists page");
				sql.execute("create table page (id int)");
				Pages pages = context.getBean(Pages.class);
				assertThatExceptionOfType(SagaCompensatedException.class)
					.isThrownBy(() -> pages.write(UUID.randomUUID().toString()));
				assertThat(output).doesNotContain("threw exception");
				assertThat(pages.written()).isEqualTo(1);
				assertThat(sql.queryForObject("select count(*) from page", Integer.class)).isZero();
			});
	}

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

	@Test
	void receiveSignalsThatCommitWithEntities() {
		SagaApplication.with(Entities.class, Replies.class)
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
			.run((context) -> {
				Replies replies = context.getBean(Replies.class);
				Sagas sagas = context.getBean(Sagas.class);
				EntityManager entities = context.getBean(EntityManager.class);
				IdempotencyKey id = sagas.start(() -> replies.await("1"));
				TransactionTemplate transaction = new TransactionTemplate(
						context.getBean(PlatformTransactionManager.class));
				transaction.executeWithoutResult((status) -> {
					entities.persist(new Letter("rolled back"));
					assertThat(sagas.signal(id, "reply", "no")).isEqualTo(SignalResult.ACCEPTED);
					status.setRollbackOnly();
				});
				transaction.executeWithoutResult((status) -> {
					entities.persist(new Letter("committed"));
					assertThat(sagas.signal(id, "reply", "yes")).isEqualTo(SignalResult.ACCEPTED);
				});
				Awaitility.await().until(() -> sagas.find(id).orElseThrow().status() == SagaStatus.COMPLETED);
				assertThat(replies.await("1")).isEqualTo("yes");
				assertThat(entities.createQuery("select letter.id from LetterOfTheTest letter", String.class)
					.getResultList()).containsExactly("committed");
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class Configured {

	}

	static class Pages {

		private final AtomicInteger written = new AtomicInteger();

		private final SagaSteps saga;

		private final EntityManager entities;

		Pages(SagaSteps saga, EntityManager entities) {
			this.saga = saga;
			this.entities = entities;
		}

		int written() {
			return this.written.get();
		}

		@Saga(key = "#id", name = "Pages.write")
		public void write(String id) {
			this.saga.step("write").runInTransaction(() -> {
				this.written.incrementAndGet();
				this.entities.createNativeQuery("insert into page values (1)").executeUpdate();
				throw new StepRefusedException("The page is full");
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = SagasWithJpaIntegrationTests.class)
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

	static class Replies {

		private final SagaSteps saga;

		Replies(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(key = "#id", name = "Replies.await")
		public String await(String id) {
			return this.saga.await("reply", String.class).within(Duration.ofMinutes(5));
		}

	}

}
