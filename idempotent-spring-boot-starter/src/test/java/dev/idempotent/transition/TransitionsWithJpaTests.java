package dev.idempotent.transition;

import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.method.MethodApplication;
import dev.idempotent.transition.jdbc.GuardedTransitions;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EnumType;
import jakarta.persistence.Enumerated;
import jakarta.persistence.Id;
import jakarta.persistence.Version;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * {@link Transitions} in an entity with a version.
 */
class TransitionsWithJpaTests {

	@Test
	void refuseAnIllegalTransition() {
		run((context) -> {
			Tickets tickets = context.getBean(Tickets.class);
			tickets.move("first", TicketStatus.CHECKED);
			assertThatExceptionOfType(IllegalTransitionException.class)
				.isThrownBy(() -> tickets.move("second", TicketStatus.CANCELLED));
			assertThat(tickets.status()).isSameAs(TicketStatus.CHECKED);
		});
	}

	@Test
	void freeTheKeyOfACallThatConflictsAtTheCommit() {
		run((context) -> {
			Tickets tickets = context.getBean(Tickets.class);
			tickets.letHappenMeanwhile(() -> CompletableFuture.runAsync(() -> tickets.rename("Ada")).join());
			assertThatExceptionOfType(OptimisticLockingFailureException.class)
				.isThrownBy(() -> tickets.move("key", TicketStatus.CHECKED));
			assertThat(tickets.status()).isSameAs(TicketStatus.SOLD);
			assertThat(tickets.owner()).isEqualTo("Ada");
			tickets.letHappenMeanwhile(() -> {
			});
			assertThat(tickets.move("key", TicketStatus.CHECKED)).isEqualTo("CHECKED");
			assertThat(tickets.move("key", TicketStatus.CHECKED)).isEqualTo("CHECKED");
			assertThat(tickets.status()).isSameAs(TicketStatus.CHECKED);
		});
	}

	@Test
	void guardRowsInTransactionsOfJpa() {
		run((context) -> {
			GuardedTransitions<TicketStatus> guarded = context.getBean(Gate.class).tickets();
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			transaction.executeWithoutResult((status) -> {
				assertThat(guarded.move("t-1", TicketStatus.SOLD, TicketStatus.CHECKED).orThrow()).isEqualTo(1);
				status.setRollbackOnly();
			});
			assertThat(context.getBean(Tickets.class).status()).isSameAs(TicketStatus.SOLD);
		});
	}

	private static void run(Consumer<ApplicationContext> test) {
		MethodApplication.with(Entities.class, Tickets.class)
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
			.run((context) -> {
				context.getBean(Tickets.class).sell();
				test.accept(context);
			});
	}

	private enum TicketStatus {

		SOLD, CHECKED, CANCELLED

	}

	record Gate(GuardedTransitions<TicketStatus> tickets) {

	}

	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = TransitionsWithJpaTests.class)
	static class Entities {

		@Bean
		Gate gate(DataSource dataSource) {
			return new Gate(GuardedTransitions.table(dataSource, "ticket_of_the_test", Ticket.TRANSITIONS).build());
		}

	}

	@Entity(name = "TicketOfTheTest")
	static class Ticket {

		static final Transitions<TicketStatus> TRANSITIONS = Transitions.of(TicketStatus.class)
			.allow(TicketStatus.SOLD, TicketStatus.CHECKED, TicketStatus.CANCELLED)
			.build();

		@Id
		private String id = "t-1";

		private String owner = "";

		@Enumerated(EnumType.STRING)
		private TicketStatus status = TicketStatus.SOLD;

		@Version
		private long version;

		void setStatus(TicketStatus next) {
			this.status = TRANSITIONS.require(this.status, next);
		}

	}

	static class Tickets {

		private final EntityManager entities;

		private Runnable meanwhile = () -> {
		};

		Tickets(EntityManager entities) {
			this.entities = entities;
		}

		void letHappenMeanwhile(Runnable meanwhile) {
			this.meanwhile = meanwhile;
		}

		@Transactional
		public void sell() {
			this.entities.persist(new Ticket());
		}

		@Transactional
		public void rename(String owner) {
			ticket().owner = owner;
		}

		@Transactional(readOnly = true)
		public String owner() {
			return ticket().owner;
		}

		@Transactional(readOnly = true)
		public TicketStatus status() {
			return ticket().status;
		}

		@Transactional
		@Idempotent(key = "#key", guarantee = Guarantee.TRANSACTION, name = "tickets.move")
		public String move(String key, TicketStatus next) {
			Ticket ticket = ticket();
			this.meanwhile.run();
			ticket.setStatus(next);
			return ticket.status.name();
		}

		private Ticket ticket() {
			return this.entities.find(Ticket.class, "t-1");
		}

	}

}
