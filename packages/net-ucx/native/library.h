// UCX as it was found when the first engine was opened: the system's, else the wheel's.
#ifndef DRYSTONE_UCX_LIBRARY_H_
#define DRYSTONE_UCX_LIBRARY_H_

#include <ucp/api/ucp.h>

#include <string>

namespace drystone::ucx {

// Functions of libucp and libucs by the names that they have there, without what they begin with.
struct Ucx {
  decltype(&ucp_init_version) init_version;
  decltype(&ucp_cleanup) cleanup;
  decltype(&ucp_config_read) config_read;
  decltype(&ucp_config_modify) config_modify;
  decltype(&ucp_config_release) config_release;
  decltype(&ucp_worker_create) worker_create;
  decltype(&ucp_worker_destroy) worker_destroy;
  decltype(&ucp_worker_get_address) worker_get_address;
  decltype(&ucp_worker_release_address) worker_release_address;
  decltype(&ucp_worker_get_efd) worker_get_efd;
  decltype(&ucp_worker_arm) worker_arm;
  decltype(&ucp_worker_progress) worker_progress;
  decltype(&ucp_worker_set_am_recv_handler) worker_set_am_recv_handler;
  decltype(&ucp_ep_create) ep_create;
  decltype(&ucp_ep_close_nbx) ep_close_nbx;
  decltype(&ucp_ep_flush_nbx) ep_flush_nbx;
  decltype(&ucp_am_send_nbx) am_send_nbx;
  decltype(&ucp_am_recv_data_nbx) am_recv_data_nbx;
  decltype(&ucp_am_data_release) am_data_release;
  decltype(&ucp_request_free) request_free;
  decltype(&ucp_request_check_status) request_check_status;
  decltype(&ucp_get_version_string) get_version_string;
  decltype(&ucs_status_string) status_string;
  void* handle;
  std::string path;
};

// Opens it with the first call; throws Failure (NOT_FOUND) that says where it was looked for.
const Ucx& ucx();

}  // namespace drystone::ucx

#endif  // DRYSTONE_UCX_LIBRARY_H_
