/* cuda_pipeline.cuh - cuda::pipeline in every scope. memcpy_async() copies at once. If threads share a pipeline,
 * consumers wait for producers and producers for consumers, as on a GPU. */
#ifndef CUFERRY_CPU_CUDA_PIPELINE_CUH
#define CUFERRY_CPU_CUDA_PIPELINE_CUH

#include <chrono>
#include <stdint.h>

#include "barrier.cuh"
#include "cuda_barrier.cuh"
#include "together.cuh"

namespace cuda
{
enum class pipeline_role { producer, consumer };

/* The words of the two barriers of a stage. */
struct cf__pipeline_stage {
    uint64_t cf__produced, cf__consumed;
};

template <thread_scope Scope, uint8_t Stages> class pipeline_shared_state
{
  public:
    pipeline_shared_state() = default;
    pipeline_shared_state(const pipeline_shared_state &) = delete;
    pipeline_shared_state &operator=(const pipeline_shared_state &) = delete;

    /* Private to this header. */
    cf__pipeline_stage cf__stages[Stages];
    uint32_t cf__threads; /* number of threads that have not quit; before the pipeline is made, number of producers */
};

template <thread_scope Scope> class pipeline
{
    struct end {
        uint8_t stage;
        uint64_t phase; /* phase of the stage's barrier whose end the next wait awaits */
    };

    cf__pipeline_stage *stages;
    uint32_t *threads; /* number of the pipeline's threads; NULL after this thread has quit */
    uint8_t count;
    end head = {0, CF_HOST_PHASE}; /* no producer waits in the first round */
    end tail = {0, 0};

    void arrive(uint64_t *word, end &at, const char *too_many, const char *file, int line)
    {
        bool is_last;
        cf__no_completion nothing;
        (void)cf__arrive<cf__is_of_block<Scope>>(word, 1, 0, nothing, is_last, too_many, file, line);
        if (++at.stage == count)
            at = {0, at.phase ^ CF_HOST_PHASE};
    }

  public:
    pipeline(pipeline &&other) : stages(other.stages), threads(other.threads), count(other.count)
    {
        head = other.head;
        tail = other.tail;
        other.threads = nullptr;
    }
    pipeline(const pipeline &) = delete;
    pipeline &operator=(pipeline &&) = delete;
    pipeline &operator=(const pipeline &) = delete;

    ~pipeline()
    {
        if (threads)
            (void)quit();
    }

    /* Leaves the pipeline; returns true if all other threads have left it. */
    bool quit()
    {
        const bool is_last = __atomic_sub_fetch(threads, 1, __ATOMIC_ACQ_REL) == 0;
        threads = nullptr;
        return is_last;
    }

    void producer_acquire(CF__WHERE)
    {
        cf__await(&stages[head.stage].cf__consumed, head.phase, "cuda::pipeline::producer_acquire()", file, line);
    }

    void producer_commit(CF__WHERE)
    {
        arrive(&stages[head.stage].cf__produced, head,
               "cuda::pipeline::producer_commit() in more threads than it has producers", file, line);
    }

    void consumer_wait(CF__WHERE)
    {
        cf__await(&stages[tail.stage].cf__produced, tail.phase, "cuda::pipeline::consumer_wait()", file, line);
    }

    template <typename Rep, typename Period> bool consumer_wait_for(const ::std::chrono::duration<Rep, Period> &time)
    {
        return cf__await_for(&stages[tail.stage].cf__produced, tail.phase,
                             ::std::chrono::duration_cast<::std::chrono::nanoseconds>(time).count());
    }

    template <typename Clock, typename Duration>
    bool consumer_wait_until(const ::std::chrono::time_point<Clock, Duration> &time)
    {
        return consumer_wait_for(time - Clock::now());
    }

    void consumer_release(CF__WHERE)
    {
        arrive(&stages[tail.stage].cf__consumed, tail,
               "cuda::pipeline::consumer_release() in more threads than it has consumers", file, line);
    }

    /* Private to this header. */
    template <uint8_t Stages>
    explicit pipeline(pipeline_shared_state<Scope, Stages> *shared)
        : stages(shared->cf__stages), threads(&shared->cf__threads), count(Stages)
    {
        static_assert(Stages > 0, "a pipeline has a stage");
    }
};

/* The pipeline of a single thread never waits: its copies are done at once, and no other thread uses it. */
template <> class pipeline<thread_scope_thread>
{
  public:
    pipeline() = default;
    pipeline(pipeline &&) = default;
    pipeline(const pipeline &) = delete;
    pipeline &operator=(pipeline &&) = delete;
    pipeline &operator=(const pipeline &) = delete;

    bool quit()
    {
        return true;
    }

    void producer_acquire()
    {
    }

    void producer_commit()
    {
    }

    void consumer_wait()
    {
    }

    template <typename Rep, typename Period> bool consumer_wait_for(const ::std::chrono::duration<Rep, Period> &)
    {
        return true;
    }

    template <typename Clock, typename Duration>
    bool consumer_wait_until(const ::std::chrono::time_point<Clock, Duration> &)
    {
        return true;
    }

    void consumer_release()
    {
    }
};

CF__FN pipeline<thread_scope_thread> make_pipeline()
{
    return pipeline<thread_scope_thread>();
}

/* Groups of cooperative_groups take the source location of a wait. Other classes without this may serve as groups,
 * too. */
template <typename Group>
CF__FN auto cf__sync_group(const Group &group, const char *file, int line) -> decltype(group.sync(file, line))
{
    group.sync(file, line);
}

template <typename Group> CF__FN void cf__sync_group(const Group &group, ...)
{
    group.sync();
}

/* Makes a pipeline. Every thread of the group calls this function. `producers` and `consumers` are the numbers of these
 * threads. */
template <typename Group, thread_scope Scope, uint8_t Stages>
CF__FN pipeline<Scope> cf__make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *shared,
                                         size_t producers, size_t consumers, const char *file, int line)
{
    if (group.thread_rank() == 0) {
        for (cf__pipeline_stage &stage : shared->cf__stages)
            stage = {cf__new_barrier(producers), cf__new_barrier(consumers)};
        shared->cf__threads = (uint32_t)group.size();
    }
    cf__sync_group(group, file, line);
    return pipeline<Scope>(shared);
}

template <typename Group, thread_scope Scope, uint8_t Stages>
CF__FN pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *shared, CF__WHERE)
{
    return cf__make_pipeline(group, shared, (size_t)group.size(), (size_t)group.size(), file, line);
}

/* `Count` is a template parameter because a literal 0 could also be the pointer to a file's name. */
template <typename Group, thread_scope Scope, uint8_t Stages, typename Count>
CF__FN pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *shared, Count producers,
                                     CF__WHERE)
{
    const size_t threads = (size_t)group.size();
    if ((size_t)producers > threads)
        cf__fail(0, "cuda::make_pipeline() of more producers than threads", file, line);
    return cf__make_pipeline(group, shared, (size_t)producers, threads - (size_t)producers, file, line);
}

template <typename Group, thread_scope Scope, uint8_t Stages>
CF__FN pipeline<Scope> make_pipeline(const Group &group, pipeline_shared_state<Scope, Stages> *shared,
                                     pipeline_role role, CF__WHERE)
{
    if (group.thread_rank() == 0)
        shared->cf__threads = 0;
    cf__sync_group(group, file, line);
    if (role == pipeline_role::producer)
        __atomic_add_fetch(&shared->cf__threads, 1, __ATOMIC_RELAXED);
    cf__sync_group(group, file, line);
    const size_t producers = shared->cf__threads;
    cf__sync_group(group, file, line);
    return cf__make_pipeline(group, shared, producers, (size_t)group.size() - producers, file, line);
}

template <uint8_t Prior> CF__FN void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &)
{
}

template <thread_scope Scope> CF__FN void pipeline_producer_commit(pipeline<thread_scope_thread> &, barrier<Scope> &)
{
}

template <thread_scope Scope> struct cf__tracking<pipeline<Scope>> {
    typedef async_contract_fulfillment type;
};

} /* namespace cuda */

#endif
