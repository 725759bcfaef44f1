package dev.idempotent.idempotency.method;

import java.util.function.Consumer;

import javax.sql.DataSource;

import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.Version;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Annotated methods that work with JPA: the record commits on the connection of the
 * entity manager.
 */
class MethodsWithJpaTests {

	@Test
	void commitTheirRecordWithTheirEntities() {
		run((context) -> {
			Seats seats = context.getBean(Seats.class);
			assertThat(seats.book("k", "1A")).isEqualTo("1A booked");
			context.getBean(ForgetfulStore.class).forget();
			assertThat(seats.book("k", "1A")).isEqualTo("1A booked");
			assertThat(booked(context)).isOne();
			assertThat(context.getBean(Effects.class).records()).isOne();
		});
	}

	@Test
	void commitTheirRecordIfTheDataSourceJoinsTransactions() {
		run((context) -> {
			assertThat(context.getBean(DataSource.class)).isInstanceOf(TransactionAwareDataSourceProxy.class);
			assertThat(context.getBean(Seats.class).book("k", "1A")).isEqualTo("1A booked");
			assertThat(booked(context)).isOne();
			assertThat(context.getBean(Effects.class).records()).isOne();
		}, JoiningDataSource.class);
	}

	@Test
	void recordNothingAfterAConstraintViolationAtFlush() {
		run((context) -> {
			Seats seats = context.getBean(Seats.class);
			seats.book("first", "1A");
			assertThatException().isThrownBy(() -> seats.book("second", "1A"));
			assertThat(context.getBean(Effects.class).records()).isOne();
			assertThat(seats.book("second", "1B")).isEqualTo("1B booked");
			assertThat(booked(context)).isEqualTo(2);
		});
	}

	/**
	 * The version is counted by the flush, which otherwise follows the method.
	 */
	@Test
	void replayWhatTheMapperGenerates() {
		run((context) -> {
			Tariffs tariffs = context.getBean(Tariffs.class);
			context.getBean(TransactionTemplate.class)
				.executeWithoutResult((status) -> context.getBean(EntityManager.class).persist(new Tariff()));
			Tariff raised = tariffs.raise("k", 5);
			Tariff replayed = tariffs.raise("k", 5);
			assertThat(replayed).isNotSameAs(raised);
			assertThat(replayed.getVersion()).isEqualTo(raised.getVersion()).isOne();
		}, Tariffs.class);
	}

	@Test
	void replayWhatTheMapperGeneratesUnderALeaseInTheirCallersTransaction() {
		run((context) -> {
			Tariffs tariffs = context.getBean(Tariffs.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			transaction.executeWithoutResult((status) -> context.getBean(EntityManager.class).persist(new Tariff()));
			Tariff raised = transaction.execute((status) -> tariffs.raiseUnderALease("k", 5));
			assertThat(raised).isNotNull();
			assertThat(tariffs.raiseUnderALease("k", 5).getVersion()).isEqualTo(raised.getVersion()).isOne();
		}, Tariffs.class);
	}

	@Test
	void joinTheirCallersTransaction() {
		run((context) -> {
			Seats seats = context.getBean(Seats.class);
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			assertThatIllegalStateException().isThrownBy(() -> transaction.executeWithoutResult((status) -> {
				seats.book("k", "1A");
				throw new IllegalStateException("The caller fails");
			}));
			assertThat(booked(context)).isZero();
			transaction.executeWithoutResult((status) -> seats.book("k", "1A"));
			assertThat(seats.book("k", "1A")).isEqualTo("1A booked");
			assertThat(booked(context)).isOne();
		});
	}

	@Test
	void leaveDraftsThatTheyFlushManuallyUnwritten() {
		run((context) -> {
			Seats seats = context.getBean(Seats.class);
			assertThat(seats.draft("k", "1A")).isEqualTo("1A booked");
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> seats.draft("joined", "1B"));
			assertThat(booked(context)).isZero();
			assertThat(context.getBean(Effects.class).records()).isEqualTo(2);
		});
	}

	@Test
	void completeALeaseAfterTheCommit() {
		run((context) -> {
			Seats seats = context.getBean(Seats.class);
			assertThat(seats.bookUnderALease("k", "1A")).isEqualTo("1A booked");
			assertThatException().isThrownBy(() -> seats.bookUnderALease("other", "1A"));
			assertThat(seats.bookUnderALease("other", "1B")).isEqualTo("1B booked");
			assertThat(seats.bookUnderALease("k", "1A")).isEqualTo("1A booked");
			assertThat(booked(context)).isEqualTo(2);
		});
	}

	private static long booked(AssertableApplicationContext context) {
		return context.getBean(EntityManager.class)
			.createQuery("select count(seat) from SeatOfTheTest seat", Long.class)
			.getSingleResult();
	}

	private static void run(Consumer<AssertableApplicationContext> test, Class<?>... more) {
		MethodApplication.with(Entities.class, Seats.class)
			.withUserConfiguration(more)
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create")
			.run(test::accept);
	}

	@Configuration(proxyBeanMethods = false)
	@EntityScan(basePackageClasses = MethodsWithJpaTests.class)
	static class Entities {

	}

	static class JoiningDataSource implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String name) {
			return (bean instanceof DataSource target) ? new TransactionAwareDataSourceProxy(target) : bean;
		}

	}

	@Entity(name = "SeatOfTheTest")
	static class Seat {

		@Id
		private String number = "";

		Seat() {
		}

		Seat(String number) {
			this.number = number;
		}

		String number() {
			return this.number;
		}

	}

	static class Seats {

		private final EntityManager entities;

		Seats(EntityManager entities) {
			this.entities = entities;
		}

		@Transactional
		@Idempotent(key = "#key", ignore = "seat", guarantee = Guarantee.TRANSACTION, name = "seats.book")
		public String book(String key, String seat) {
			return persist(seat);
		}

		@Transactional
		@Idempotent(key = "#key", ignore = "seat", guarantee = Guarantee.TRANSACTION, name = "seats.draft")
		public String draft(String key, String seat) {
			this.entities.unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
			return persist(seat);
		}

		@Transactional
		@Idempotent(key = "#key", ignore = "seat", name = "seats.book-under-a-lease")
		public String bookUnderALease(String key, String seat) {
			return persist(seat);
		}

		private String persist(String number) {
			Seat seat = new Seat(number);
			this.entities.persist(seat);
			return seat.number() + " booked";
		}

	}

	@Entity(name = "TariffOfTheTest")
	static class Tariff {

		@Id
		private String id = "standard";

		private int price;

		@Version
		private int version;

		public String getId() {
			return this.id;
		}

		public void setId(String id) {
			this.id = id;
		}

		public int getPrice() {
			return this.price;
		}

		public void setPrice(int price) {
			this.price = price;
		}

		public int getVersion() {
			return this.version;
		}

		public void setVersion(int version) {
			this.version = version;
		}

	}

	static class Tariffs {

		private final EntityManager entities;

		Tariffs(EntityManager entities) {
			this.entities = entities;
		}

		@Transactional
		@Idempotent(name = "raise-under-a-lease", key = "#key")
		public Tariff raiseUnderALease(String key, int price) {
			return raise(key, price);
		}

		@Transactional
		@Idempotent(name = "raise", key = "#key", guarantee = Guarantee.TRANSACTION)
		public Tariff raise(String key, int price) {
			Tariff tariff = this.entities.find(Tariff.class, "standard");
			tariff.setPrice(price);
			return tariff;
		}

	}

}
