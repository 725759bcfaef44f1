package dev.idempotent.transaction;

import java.util.List;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.function.ToIntBiFunction;

import javax.sql.DataSource;

import dev.idempotent.autoconfigure.idempotency.IdempotencyAutoConfiguration;
import dev.idempotent.autoconfigure.idempotency.ImportMethods;
import dev.idempotent.autoconfigure.saga.ImportSagas;
import dev.idempotent.idempotency.Guarantee;
import dev.idempotent.idempotency.Idempotent;
import dev.idempotent.idempotency.IdempotencyKey;
import dev.idempotent.idempotency.IdempotencyStoreException;
import dev.idempotent.saga.Saga;
import dev.idempotent.saga.SagaSteps;
import dev.idempotent.saga.Sagas;
import dev.idempotent.transition.Transitions;
import dev.idempotent.transition.jdbc.GuardedTransitions;
import jakarta.persistence.EntityManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Keys, sagas and guarded transitions join a transaction only if its end is the one that
 * synchronizations are told of.
 */
class OuterTransactionsTests {

	private static List<Application> applications = List.of();

	@BeforeAll
	static void start() {
		applications = List.of(Application.start(JdbcManager.class), Application.start(JpaManager.class));
	}

	@AfterAll
	static void stop() {
		applications.forEach((each) -> each.context().close());
	}

	static List<Arguments> each() {
		return applications.stream()
			.flatMap((application) -> List.of(Act.values()).stream().map((act) -> Arguments.of(act, application)))
			.toList();
	}

	@ParameterizedTest
	@MethodSource("each")
	void refuseAnOuterTransactionIfTheInnerOneRollsBack(Act act, Application application) {
		String id = application.newId();
		application.in("own", () -> assertThatIllegalStateException().isThrownBy(() -> application.in("other", () -> {
			act.refuse(application, id);
			throw new IllegalStateException("The inner transaction rolls back");
		})));
		assertThat(act.done(application, id)).isZero();
		act.accept(application, id);
	}

	@ParameterizedTest
	@MethodSource("each")
	void refuseAnOuterTransactionThatRollsBack(Act act, Application application) {
		String id = application.newId();
		assertThatIllegalStateException().isThrownBy(() -> application.in("own", () -> {
			application.in("other", () -> act.refuse(application, id));
			throw new IllegalStateException("The outer transaction rolls back");
		}));
		assertThat(act.done(application, id)).isZero();
		act.accept(application, id);
	}

	@ParameterizedTest
	@MethodSource("each")
	void refuseAnOuterTransactionAroundOneOfAManagerThatIsNoBean(Act act, Application application) {
		String id = application.newId();
		PlatformTransactionManager unknown = new JdbcTransactionManager(
				application.context().getBean("other", DataSource.class));
		application.in("own",
				() -> new TransactionTemplate(unknown).executeWithoutResult((status) -> act.refuse(application, id)));
		application.in("broker", () -> application.in("own",
				() -> new TransactionTemplate(unknown).executeWithoutResult((status) -> act.refuse(application, id))));
		assertThat(act.done(application, id)).isZero();
		act.accept(application, id);
	}

	@ParameterizedTest
	@MethodSource("each")
	void refuseAnOuterTransactionAroundOneWithoutADatabase(Act act, Application application) {
		String id = application.newId();
		application.in("own", () -> application.in("broker", () -> act.refuse(application, id)));
		assertThat(act.done(application, id)).isZero();
		act.accept(application, id);
	}

	@ParameterizedTest
	@MethodSource("each")
	void joinAgainWhenAnInnerTransactionHasEnded(Act act, Application application) {
		String id = application.newId();
		application.in("own", () -> {
			application.in("other", () -> act.refuse(application, id));
			act.run(application, id);
		});
		assertThat(act.done(application, id)).isOne();
	}

	@ParameterizedTest
	@MethodSource("each")
	void joinANewTransactionWithinThatOfAnotherManager(Act act, Application application) {
		String id = application.newId();
		assertThatIllegalStateException().isThrownBy(() -> application.in("own", () -> application.in("other", () -> {
			application.inNew("own", () -> act.run(application, id));
			act.refuse(application, application.newId());
			throw new IllegalStateException("The outer transactions roll back");
		})));
		assertThat(act.done(application, id)).isOne();
	}

	@ParameterizedTest
	@MethodSource("each")
	void joinAnInnerTransaction(Act act, Application application) {
		for (String outer : List.of("other", "broker")) {
			String id = application.newId();
			String lost = application.newId();
			assertThatIllegalStateException().isThrownBy(() -> application.in(outer, () -> {
				application.in("own", () -> act.run(application, id));
				assertThatIllegalStateException().isThrownBy(() -> application.in("own", () -> {
					act.run(application, lost);
					throw new IllegalStateException("The inner transaction rolls back");
				}));
				throw new IllegalStateException("The outer transaction rolls back");
			}));
			assertThat(act.done(application, id)).isOne();
			assertThat(act.done(application, lost)).isZero();
		}
	}

	@ParameterizedTest
	@MethodSource("each")
	void joinATransactionInWhichAnotherDatabaseWasUsed(Act act, Application application) {
		String id = application.newId();
		application.in("own", () -> {
			new JdbcTemplate(application.context().getBean("other", DataSource.class)).queryForList("select 1");
			act.run(application, id);
		});
		assertThat(act.done(application, id)).isOne();
	}

	@ParameterizedTest
	@MethodSource("each")
	void joinATransactionOfASessionThatIsOpenAlready(Act act, Application application) {
		EntityManagerFactory factory = application.context().getBean(EntityManagerFactory.class);
		EntityManagerHolder open = new EntityManagerHolder(factory.createEntityManager());
		TransactionSynchronizationManager.bindResource(factory, open);
		try {
			String id = application.newId();
			application.in("own", () -> act.run(application, id));
			assertThat(act.done(application, id)).isOne();
			application.in("own", () -> application.in("other", () -> act.refuse(application, application.newId())));
		}
		finally {
			TransactionSynchronizationManager.unbindResource(factory);
			EntityManagerFactoryUtils.closeEntityManager(open.getEntityManager());
		}
	}

	/**
	 * The inner manager commits the connection of JPA's transaction.
	 */
	@ParameterizedTest
	@MethodSource("each")
	void joinATransactionOnTheConnectionOfTheOuterOne(Act act, Application application) {
		String id = application.newId();
		application.in("own", () -> application.in("sameDatabase", () -> act.run(application, id)));
		assertThat(act.done(application, id)).isOne();
	}

	/**
	 * Its own advice takes part in the outer transaction, which it marks as rollback-only
	 * when the key is refused.
	 */
	@Test
	void runATransactionalMethodOnce() {
		Application application = applications.get(0);
		Till till = application.context().getBean(Till.class);
		String id = application.newId();
		assertThatExceptionOfType(UnexpectedRollbackException.class).isThrownBy(() -> application.in("own",
				() -> assertThatIllegalStateException().isThrownBy(() -> application.in("other", () -> {
					assertThatExceptionOfType(IdempotencyStoreException.class)
						.isThrownBy(() -> till.payInTransaction(id))
						.withMessageContaining("another manager");
					throw new IllegalStateException("The inner transaction rolls back");
				}))));
		assertThat(Act.KEY.done(application, id)).isZero();
		application.in("other", () -> till.payInTransaction(id));
		application.in("own", () -> till.payInTransaction(id));
		assertThat(Act.KEY.done(application, id)).isOne();
	}

	@SuppressWarnings("ImmutableEnumChecker") // Functions without a state.
	enum Act {

		KEY((application, id) -> application.context().getBean(Till.class).pay(id),
				(application, id) -> application.count(
						"work where id = ? and not exists (select 1 from idempotency_record where not completed)", id),
				IdempotencyStoreException.class),

		SAGA((application, id) -> application.context()
			.getBean(Sagas.class)
			.start(() -> application.context().getBean(Trip.class).book(id)),
				(application, id) -> application.count("saga_instance where id = ?",
						IdempotencyKey.of(IdempotencyKey.Kind.SAGA, "shop", "", "trip", '"' + id + '"').digest()),
				InvalidDataAccessApiUsageException.class),

		MOVE((application, id) -> application.orders().move(id, State.OPEN, State.PAID).orThrow(),
				(application, id) -> application.count("orders where status = 'PAID' and id = ?", id),
				IllegalTransactionStateException.class);

		private final BiConsumer<Application, String> act;

		private final ToIntBiFunction<Application, String> done;

		private final Class<? extends Exception> refusal;

		Act(BiConsumer<Application, String> act, ToIntBiFunction<Application, String> done,
				Class<? extends Exception> refusal) {
			this.act = act;
			this.done = done;
			this.refusal = refusal;
		}

		void run(Application application, String id) {
			this.act.accept(application, id);
		}

		void refuse(Application application, String id) {
			assertThatThrownBy(() -> run(application, id)).isInstanceOf(this.refusal);
		}

		/**
		 * In a transaction of its own, after a refusal: it takes effect once.
		 */
		void accept(Application application, String id) {
			application.in("own", () -> run(application, id));
			assertThat(done(application, id)).isOne();
		}

		int done(Application application, String id) {
			return this.done.applyAsInt(application, id);
		}

	}

	enum State {

		OPEN, PAID

	}

	record Application(ConfigurableApplicationContext context, GuardedTransitions<State> orders,
			JdbcTemplate database) {

		static Application start(Class<?> manager) {
			SpringApplication application = new SpringApplicationBuilder(Databases.class, manager)
				.web(WebApplicationType.NONE)
				.properties("idempotent.namespace=shop", "spring.main.banner-mode=off",
						"idempotent.saga.initialize-schema=always", "idempotent.jdbc.initialize-schema=always")
				.build();
			ConfigurableApplicationContext context = application.run();
			DataSource own = context.getBean("own", DataSource.class);
			JdbcTemplate database = new JdbcTemplate(own);
			database.execute("create table work (id varchar(50))");
			database.execute("create table orders (id varchar(50) primary key, status varchar(10), version integer)");
			return new Application(context,
					GuardedTransitions
						.table(own, "orders", Transitions.of(State.class).allow(State.OPEN, State.PAID).build())
						.build(),
					database);
		}

		String newId() {
			String id = UUID.randomUUID().toString();
			this.database.update("insert into orders values (?, 'OPEN', 0)", id);
			return id;
		}

		void in(String manager, Runnable work) {
			new TransactionTemplate(this.context.getBean(manager + "Manager", PlatformTransactionManager.class))
				.executeWithoutResult((status) -> work.run());
		}

		void inNew(String manager, Runnable work) {
			TransactionTemplate template = new TransactionTemplate(
					this.context.getBean(manager + "Manager", PlatformTransactionManager.class));
			template.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			template.executeWithoutResult((status) -> work.run());
		}

		int count(String rows, String id) {
			Integer count = this.database.queryForObject("select count(*) from " + rows, Integer.class, id);
			return (count != null) ? count : 0;
		}

		@Override
		public String toString() {
			return this.context.getBean("ownManager").getClass().getSimpleName();
		}

	}

	static class Till {

		private final JdbcTemplate database;

		Till(DataSource own) {
			this.database = new JdbcTemplate(own);
		}

		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "till.pay")
		public String pay(String id) {
			this.database.update("insert into work values (?)", id);
			return "paid";
		}

		@Transactional
		@Idempotent(key = "#id", guarantee = Guarantee.TRANSACTION, name = "till.pay-in-transaction")
		public String payInTransaction(String id) {
			return pay(id);
		}

	}

	static class Trip {

		private final SagaSteps saga;

		Trip(SagaSteps saga) {
			this.saga = saga;
		}

		@Saga(key = "#id", name = "trip")
		public @Nullable String book(String id) {
			this.saga.step("book").run(() -> {
			});
			return id;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportSagas
	@ImportMethods
	@ImportAutoConfiguration({ AopAutoConfiguration.class, TransactionAutoConfiguration.class,
			HibernateJpaAutoConfiguration.class, IdempotencyAutoConfiguration.class })
	@Import({ Till.class, Trip.class })
	static class Databases {

		@Bean
		@Primary
		DataSource own() {
			return new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
		}

		@Bean
		DataSource other() {
			return new EmbeddedDatabaseBuilder().setType(EmbeddedDatabaseType.H2).generateUniqueName(true).build();
		}

		@Bean
		PlatformTransactionManager otherManager(@Qualifier("other") DataSource other) {
			return new JdbcTransactionManager(other);
		}

		@Bean
		PlatformTransactionManager sameDatabaseManager(DataSource own) {
			return new JdbcTransactionManager(own);
		}

		@Bean
		PlatformTransactionManager brokerManager() {
			return new Broker();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JdbcManager {

		@Bean
		@Primary
		PlatformTransactionManager ownManager(DataSource own) {
			return new JdbcTransactionManager(own);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JpaManager {

		@Bean
		@Primary
		PlatformTransactionManager ownManager(EntityManagerFactory factory) {
			return new JpaTransactionManager(factory);
		}

	}

	/**
	 * As the manager of a message broker whose transactions have synchronizations.
	 */
	static class Broker extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
